# shellcheck shell=bash
# packages.sh - the one list of packages that pagestorm is built and tested with, and how to get
# what is missing.  Sourced by tests/run.sh and samples/quickstart.sh (set -eu in force).
#
# One line a need:  purpose | how to see that it is there | apt | dnf | zypper | what for
#   purpose  build: the program;  test: the suite;  extra: its tests are skipped where it is missing
#   check    cmd:NAME...  one of these commands;   pc:NAME  a pkg-config module;
#            hdr:FILE     a header under /usr/include or /usr/local/include;
#            cc:COMPILER FLAGS  an empty program compiles and links with them
packages_list() {
    cat <<'LIST'
build|cmd:cc gcc clang|gcc libc6-dev|gcc glibc-devel|gcc glibc-devel|C compiler and library
build|cmd:cmake|cmake|cmake|cmake|build system, from 3.22
build|cmd:ninja make gmake|make|make|make|runs the build (ninja is used where it is there)
build|cmd:pkg-config pkgconf|pkg-config|pkgconf-pkg-config|pkg-config|finds the libraries
build|pc:jansson|libjansson-dev|jansson-devel|libjansson-devel|result.json
build|pc:libxxhash|libxxhash-dev|xxhash-devel|xxhash-devel|XXH3 hash of every page
build|pc:liburing|liburing-dev|liburing-devel|liburing-devel|io_uring
build|pc:zlib|zlib1g-dev|zlib-devel|zlib-devel|CRC-32 of the log blocks
build|hdr:iniparser.h|libiniparser-dev|iniparser-devel|libiniparser-devel|INI configuration files
test|pc:cmocka|libcmocka-dev|libcmocka-devel|libcmocka-devel|unit test framework
test|cmd:python3|python3|python3|python3-base|lint test, independent page checker
test|pc:fuse3|libfuse3-dev|fuse3-devel|fuse3-devel|file system that injects faults
test|cmd:fusermount3|fuse3|fuse3|fuse3|mounts it
extra|cc:gcc -fsanitize=address,undefined|gcc|libasan libubsan|gcc|address sanitizer
extra|cc:gcc -fsanitize=thread|gcc|libtsan|gcc|thread sanitizer
extra|cmd:valgrind|valgrind|valgrind|valgrind|instructions of a page read
extra|cmd:strace|strace|strace|strace|flags and system calls as configured
extra|cmd:clang|clang|clang|clang|second compiler, fuzz targets
extra|cc:clang -fsanitize=fuzzer,address -DFUZZER|libclang-rt-dev|compiler-rt|clang|libFuzzer
extra|cmd:clang-format-14 clang-format|clang-format|clang-tools-extra|clang-tools|format check
LIST
}

packages_compiles() { # COMPILER FLAGS...
    local source='int main(void) { return 0; }'

    case " $* " in
    *" -DFUZZER "*) source='int LLVMFuzzerTestOneInput(const char *d, unsigned long n);
        int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n && 0; }' ;;
    esac
    command -v "$1" >/dev/null && printf '%s\n' "$source" | "$@" -x c -o /dev/null - 2>/dev/null
}

packages_present() { # CHECK
    local kind=${1%%:*} what=${1#*:} name

    # shellcheck disable=SC2086 # words of the list are meant to be split
    case $kind in
    cmd) for name in $what; do command -v "$name" >/dev/null && return 0; done ;;
    pc) pkg-config --exists "$what" 2>/dev/null && return 0 ;;
    hdr) find /usr/include /usr/local/include -maxdepth 2 -name "$what" 2>/dev/null |
        grep -q . && return 0 ;;
    cc) packages_compiles $what && return 0 ;;
    esac
    return 1
}

# Names of what is missing for the given purposes, in this manager's words (column 3, 4 or 5).
packages_missing() { # COLUMN PURPOSE...
    local column=$1 wanted purpose check apt dnf zypper why
    shift
    wanted=" $* "
    packages_list | while IFS='|' read -r purpose check apt dnf zypper why; do
        case $wanted in *" $purpose "*) ;; *) continue ;; esac
        packages_present "$check" </dev/null && continue
        case $column in
        apt) echo "$apt" ;;
        dnf) echo "$dnf" ;;
        zypper) echo "$zypper" ;;
        *) echo "${check#*:} ($why)" ;;
        esac
    done
}

packages_manager() {
    local name

    for name in apt-get dnf zypper; do
        if command -v "$name" >/dev/null; then
            echo "${name%-get}"
            return
        fi
    done
}

# The command that puts root's rights before another one; fails with a sentence where there is none.
packages_root() { # NAMES, for the message
    if [ "$(id -u)" = 0 ]; then
        echo env
    elif ! command -v sudo >/dev/null; then
        echo "Missing: $1. Installing needs root, and there is no sudo here: install them" \
            "as root and start again." >&2
        return 1
    elif [ -t 0 ]; then
        echo sudo
    elif sudo -n true 2>/dev/null; then
        echo sudo -n
    else
        echo "Missing: $1. Installing needs root, and sudo asks for a password that nobody" \
            "can type here: install them as root and start again." >&2
        return 1
    fi
}

packages_run_manager() { # MANAGER ROOT-COMMAND NAMES...
    local manager=$1 root=$2
    shift 2

    # shellcheck disable=SC2086 # the root command may be two words
    case $manager in
    apt) $root apt-get update -qq </dev/null &&
        $root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "$@" </dev/null ;;
    dnf) $root dnf install -y "$@" </dev/null ;;
    zypper) $root zypper --non-interactive install "$@" </dev/null ;;
    esac
}

# Install what is missing for the purposes; fails when a purpose other than extra stays unmet.
packages_install() { # PURPOSE...
    local manager names root
    manager=$(packages_manager)
    names=$(packages_missing "$manager" "$@" | tr ' ' '\n' | sort -u | tr '\n' ' ')
    names=${names% }
    [ -n "$names" ] || return 0
    if [ -z "$manager" ]; then
        echo "Missing, and neither apt-get, dnf nor zypper is here to install it:" >&2
        packages_missing none "$@" | sed 's/^/  /' >&2
        return 1
    fi
    echo "Installing what is missing: $names"
    root=$(packages_root "$names") || return 1
    # shellcheck disable=SC2086 # names are meant to be split
    packages_run_manager "$manager" "$root" $names || packages_still_missing "$@"
}

# One by one after a failure: an extra that this distribution does not have must not stop the rest.
packages_still_missing() { # PURPOSE...
    local manager purpose name root rest
    manager=$(packages_manager)
    for purpose; do
        rest=$(packages_missing "$manager" "$purpose")
        root=$(packages_root "$rest") || return 1
        for name in $rest; do
            packages_run_manager "$manager" "$root" "$name" || [ "$purpose" = extra ] || {
                echo "The package $name could not be installed; it is needed to $purpose." >&2
                return 1
            }
        done
    done
}
