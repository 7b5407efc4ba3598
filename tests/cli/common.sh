# common.sh - sourced by the scripts here: a work folder of one's own, and how a refusal is checked.
#
#   $PAGESTORM  the binary (first argument of the script)
#   $WORK       a fresh folder, removed at the end; the current directory is inside it
#   $DIR        the empty directory under test
set -u
PAGESTORM=$(realpath "$1")
WORK=$(mktemp -d "${TMPDIR:-/var/tmp}/pagestorm-cli.XXXXXX") || exit 1
DIR=$WORK/dir
CHILD=
mkdir "$DIR" "$WORK/cwd"
cd "$WORK/cwd" || exit 1

# Small and quick; a small file system will do.
QUICK=(--size 16M -d 1 --set CONFIG.Reserve=1)

cleanup() {
    [ -n "$CHILD" ] && kill -KILL "$CHILD" 2>/dev/null
    rm -rf "$WORK"
}
trap cleanup EXIT

fail() {
    echo "FAIL: $*" >&2
    for file in out err; do
        [ -f "$WORK/$file" ] && sed "s/^/  $file: /" "$WORK/$file" | head -40 >&2
    done
    exit 1
}

skip() {
    echo "SKIP: $*"
    exit 77
}

# Names, sizes, inodes, times and contents of everything below the work folder.
picture() {
    (cd "$WORK" && find . -path ./out -prune -o -path ./err -prune -o \
        -printf '%p %y %i %T@ %s %l\n' | grep -v '^\. ' | sort &&
        find dir cwd -type f -print0 | sort -z | xargs -0 -r cksum)
}

# run ARGUMENTS...: the exit code in $RC, output in $WORK/out and $WORK/err
run() {
    timeout 600 "$PAGESTORM" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    RC=$?
}

# exits CODE ARGUMENTS...
exits() {
    local wanted=$1
    shift
    run "$@"
    [ "$RC" -eq "$wanted" ] || fail "exit code $RC instead of $wanted: $*"
}

# refused WORD... -- ARGUMENTS...: exit 2, each WORD in the messages, nothing created or changed
refused() {
    local words=() before after
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    before=$(picture)
    exits 2 "$@"
    after=$(picture)
    [ "$before" = "$after" ] || fail "something was changed:
$(diff <(echo "$before") <(echo "$after"))"
    for word in "${words[@]}"; do
        grep -qF -e "$word" "$WORK/err" || fail "the message does not name '$word'"
    done
    grep -q '^error: ' "$WORK/err" || fail "no line begins with error:"
}

# two_files LINES: a sound configuration for $DIR as c.ini, with more lines for [File1]
two_files() {
    printf '[File1]\nFileName=%s/a.mdx\nInitialSize=16\n%s\n[File2]\nFileName=%s/a.ldx\n' \
        "$DIR" "${1-}" "$DIR" >c.ini
    printf 'InitialSize=8\nLogFile=TRUE\n' >>c.ini
}
