#!/usr/bin/env bash
# test_preflight.sh - `pagestorm preflight` on what every machine has: a directory, memory, a file
# of SQL Server's kind, wrong paths; nothing is left behind, and JSON says the same as the text.
. "$(dirname "$0")/common.sh"

accepted() { # a machine that nobody tuned has advice
    [ "$RC" -eq 0 ] || [ "$RC" -eq 4 ] || [ "$RC" -eq 3 ] || fail "exit code $RC"
}

before=$(picture)
run preflight --sample 0 "$DIR"
accepted
[ "$before" = "$(picture)" ] || fail "something was left behind"
for word in 'file system' O_DIRECT sectors 'in use by' vm.swappiness 'RESULT: '; do
    grep -qF -e "$word" "$WORK/out" || fail "no line of $word"
done
[ "$(awk 'length > 80 && / /' "$WORK/out" | grep -cv /)" -eq 0 ] || fail "lines beyond 80 columns"

# Memory is refused.
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && [ -w /dev/shm ]; then
    exits 3 preflight --sample 0 /dev/shm
    grep -q '^ X O_DIRECT' "$WORK/out" || fail "O_DIRECT on tmpfs is not refused"
    exits 3 preflight --sample 0 "$DIR" /dev/shm # several: the worst counts
fi

# A file under a lock, held by a process of this test.
if command -v python3 >/dev/null; then
    python3 -c 'import fcntl, sys, time
file = open(sys.argv[1], "w")
file.write("x")
file.flush()
fcntl.lockf(file, fcntl.LOCK_EX)
print("locked", flush=True)
time.sleep(60)' "$DIR/base.mdf" >"$WORK/locked" &
    CHILD=$!
    for _ in $(seq 100); do
        [ -s "$WORK/locked" ] && break
        sleep 0.1
    done
    run preflight --sample 0 "$DIR/base.mdf"
    accepted
    grep -q "process $CHILD holds a lock" "$WORK/out" || fail "the lock is not shown"
    grep -q "a program with SQL Server files (python3[.0-9]*, pid $CHILD)" "$WORK/out" ||
        fail "the program with an .mdf open is not shown"
    kill -KILL "$CHILD"
    wait "$CHILD" 2>/dev/null
    CHILD=

    run preflight --sample 10ms --json "$WORK/p.json" "$DIR"
    code=$RC
    exits "$code" preflight --sample 0 --json "$WORK/p.json" "$DIR" # its own file is replaced
    python3 -c 'import json, sys
p = json.load(open(sys.argv[1]))
assert p["schema"] == "pagestorm-preflight/1"
assert p["exit_code"] == int(sys.argv[2]), p["exit_code"]
assert p["paths"][0]["path"] == sys.argv[3]
grades = [line["grade"] for line in p["paths"][0]["lines"] + p["host"]["lines"]]
order = ["ok", "note", "advice", "refused"]
assert p["grade"] == max(grades, key=order.index)' "$WORK/p.json" "$code" "$(realpath "$DIR")" ||
        fail "the JSON is wrong"
    run preflight --sample 0 --json - "$DIR"
    python3 -m json.tool "$WORK/out" >/dev/null || fail "--json - prints something else as well"
fi

echo precious >"$WORK/precious.txt"
exits 2 preflight --sample 0 --json "$WORK/precious.txt" "$DIR"
[ "$(cat "$WORK/precious.txt")" = precious ] || fail "a file was overwritten"

exits 2 preflight "$DIR/absent"
grep -q '^error: .*absent' "$WORK/err" || fail "the path is not named"
exits 2 preflight /dev/null
grep -q 'no directory, regular file or block device' "$WORK/err" || fail "no reason"
exits 2 preflight
exits 2 preflight --sample soon "$DIR"
exits 2 preflight --nonsense "$DIR"
exits 0 preflight --help
