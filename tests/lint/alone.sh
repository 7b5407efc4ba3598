#!/usr/bin/env bash
# alone.sh CC LIBRARY ALLOWED... - link a folder's static library, every object of it, with nothing
# but its allowed dependencies.  alone.sh CC selftest - prove that a forbidden call is noticed.
set -eu

cc=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'int main(void) { return 0; }' >"$work/main.c"

links() { # LIBRARY ALLOWED...
    local library=$1
    shift
    "$cc" -o "$work/alone" "$work/main.c" -Wl,--whole-archive "$library" \
        -Wl,--no-whole-archive -Wl,--no-undefined "$@"
}

archive() { # NAME SOURCE-TEXT
    printf '%s\n' "$2" >"$work/$1.c"
    "$cc" -c -o "$work/$1.o" "$work/$1.c"
    ar rcs "$work/lib$1.a" "$work/$1.o"
}

if [ "$1" != selftest ]; then
    links "$@" || {
        echo "${1##*/} needs more than it may use: ${*:2}" >&2
        exit 1
    }
    exit 0
fi

archive above 'int above(void); int above(void) { return 1; }'
archive below 'int above(void); int below(void); int below(void) { return above(); }'
links "$work/libbelow.a" "$work/libabove.a" || {
    echo "an allowed dependency was refused" >&2
    exit 1
}
if links "$work/libbelow.a" 2>/dev/null; then
    echo "a call outside the allowed dependencies was not noticed" >&2
    exit 1
fi
