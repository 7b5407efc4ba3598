#!/usr/bin/env bash
# test_no_proc.sh - in a chroot without /proc a run is made, verified, taken over and removed.
. "$(dirname "$0")/common.sh"

[ "$(id -u)" = 0 ] || skip "chroot needs root"
mkdir -p "$WORK/jail/bin" "$WORK/jail/data"
cp "$PAGESTORM" "$WORK/jail/bin/pagestorm" || fail "no copy of the binary"
for library in $(ldd "$PAGESTORM" | grep -o '/[^ ]*'); do
    mkdir -p "$WORK/jail${library%/*}"
    cp -L "$library" "$WORK/jail$library" || fail "no copy of $library"
done
jail() { # CODE ARGUMENTS...
    local wanted=$1
    shift
    timeout 120 chroot "$WORK/jail" /bin/pagestorm "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    RC=$?
    [ "$RC" -eq "$wanted" ] || fail "exit code $RC instead of $wanted: $*"
}
chroot "$WORK/jail" /bin/pagestorm --version >/dev/null 2>&1 || skip "the binary does not run there"
jail 0 run --dir /data "${QUICK[@]}" --out /data/r1
jail 0 verify /data/r1
jail 0 run --dir /data "${QUICK[@]}" --out /data/r2 --reuse /data/r1
jail 0 verify /data/r2
jail 0 clean /data/r2 --yes
[ ! -e "$WORK/jail/data/sqliosim.mdx" ] || fail "clean left a file"
