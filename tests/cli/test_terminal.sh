#!/usr/bin/env bash
# test_terminal.sh - the live view on a terminal (a pty): no line is wider than it at 40, 60, 80
# and 120 columns, nothing of the block is left behind, Ctrl-C once and twice, a size that changes,
# TERM=dumb, NO_COLOR, --quiet.
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || skip "python3 is not here"
python3 -c 'import pty, os; os.close(pty.openpty()[0])' 2>/dev/null || skip "no pty here"
PTY=$(realpath "$(dirname "$0")")/pty_run.py
export TERM=xterm LANG=C.UTF-8
unset NO_COLOR LC_ALL LC_CTYPE

# on_terminal CODE COLUMNS PTY_OPTIONS -- ARGUMENTS: what was on the screen in $WORK/out
on_terminal() {
    local wanted=$1 columns=$2 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    rm -rf "$WORK/result"
    timeout 600 python3 "$PTY" "$columns" 24 "$WORK/out" "${options[@]}" -- "$PAGESTORM" run \
        --dir "$DIR" --size 16M --set CONFIG.Reserve=1 --out "$WORK/result" "$@" >"$WORK/err"
    RC=$?
    [ "$RC" -eq "$wanted" ] || fail "exit code $RC instead of $wanted at $columns columns: $*"
}

# The block is gone at the end, and the verdict is there.
has_no_block() {
    grep -q 'in flight   p99\|Ctrl-C ends and' "$WORK/out" && fail "a block was left: $1"
    grep -q '^RESULT ' "$WORK/out" || fail "no verdict: $1"
}

# And so is what belongs above the block.
is_clean() {
    grep -q '[0-9:]\{8\}Z\? initial update: done after' "$WORK/out" || fail "no line of a phase: $1"
    has_no_block "$1"
}

for columns in 40 60 80 120; do
    on_terminal 0 "$columns" -- -d 1
    is_clean "$columns columns"
    [ "$(sed -n 's/^drawings //p' "$WORK/out")" -ge 4 ] || fail "not drawn at $columns columns"
done

on_terminal 130 80 --stop-on 'STRESS (not judged)' -- -d 50
is_clean "Ctrl-C"
[ "$(grep -c 'stopping; press Ctrl-C again' "$WORK/out")" -eq 1 ] || fail "the stop was not said"
[ -s "$WORK/result/result.json" ] || fail "no result.json"

# The reason why a run could not begin stays on the screen, and no block.  (A quick machine may have
# created the files before the signal: then there is a result.)
on_terminal 130 80 --stop-on 'CREATING FILES' -- -d 50 --size 400M
grep -q '^error: interrupted while the files were created\|^RESULT ' "$WORK/out" ||
    fail "the screen does not say why the run ended"
grep -q 'in flight   p99\|Ctrl-C ends and' "$WORK/out" && fail "a block was left: creation"

on_terminal 0 100 --resize-to 50 -- -d 2
# Nobody tells a program how its terminal breaks old lines anew: lines above may be lost.
has_no_block "a smaller terminal"

TERM=dumb on_terminal 0 80 -- -d 1
is_clean "TERM=dumb"
grep -qx 'drawings 0' "$WORK/out" || fail "a dumb terminal was drawn on"

on_terminal 0 80 -- -d 1 --quiet
grep -qx 'drawings 0' "$WORK/out" || fail "--quiet was drawn"
grep -q 'initial update' "$WORK/out" && fail "--quiet told of phases"
exit 0
