#!/usr/bin/env bash
# A run is killed in the middle of a pass of DBCC CHECKDB.  The snapshot that it leaves is no part
# of the database: the check of the run passes it over, the check of the file itself names it,
# the next run replaces it and removes its own, and clean removes it.
set -eu
. "$2/tests/cli/lib.sh"

kills=3
mkdir "$work/d"
snapshot=$work/d/sqliosim.mdx.MSSQL_DBCC5

run_begin() { # its result folder
    "$pagestorm" run --dir "$work/d" --size 32M -d 30 --set DbccUser.UserCount=2 \
        --set RandomUser.SleepAfter=0 --out "$work/$1" >"$work/out" 2>&1 &
    pid=$!
}

for ((i = 1; i <= kills; i++)); do
    run_begin "r$i"
    while ! grep -q 'initial update: done' "$work/out" && kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    sleep 0.$((i * 3))
    kill -KILL $pid 2>/dev/null || failed "kill $i: the run had ended" "$work/out"
    wait $pid 2>/dev/null || true
    what="kill $i"
    [ -f "$snapshot" ] || failed "$what: there is no snapshot"
    expect_exit 0 "$what: verify" "$work/verify" "$pagestorm" verify "$work/r$i" || true
    [ -z "$mdfcheck" ] || expect_exit 0 "$what: mdfcheck" "$work/mdf" python3 "$mdfcheck" --pair \
        "$work/d/sqliosim.mdx" "$work/d/sqliosim.ldx" || true
    expect_exit 2 "$what: verify of the snapshot" "$work/verify" "$pagestorm" verify "$snapshot" ||
        true
    grep -q 'snapshot of a DBCC CHECKDB' "$work/verify" ||
        failed "$what: verify does not say what the snapshot is" "$work/verify"
done

# Between two passes the file has its first page only.
truncate -s 8192 "$snapshot"
expect_exit 2 "verify between passes" "$work/verify" "$pagestorm" verify "$snapshot" || true
grep -q 'snapshot of a DBCC CHECKDB' "$work/verify" ||
    failed "verify does not know a snapshot of one page" "$work/verify"

expect_exit 0 "clean" "$work/clean" "$pagestorm" clean --yes "$work/r$kills" || true
[ ! -e "$snapshot" ] || failed "clean left the snapshot" "$work/clean"
[ ! -e "$work/d/sqliosim.mdx" ] || failed "clean left the data file" "$work/clean"

# A run that reaches its end removes what it made, and the space of a pass is given back before.
expect_exit 0 "a whole run" "$work/out" "$pagestorm" run --dir "$work/d" --size 32M -d 2 \
    --set DbccUser.UserCount=2 --out "$work/whole" || true
[ ! -e "$snapshot" ] || failed "the run left its snapshot" "$work/out"
conclude
