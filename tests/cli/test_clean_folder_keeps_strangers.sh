#!/usr/bin/env bash
# test_clean_folder_keeps_strangers.sh - clean leaves what it does not know in the result folder.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/result"
echo mine >"$WORK/result/notes.txt"
mkdir "$WORK/result/evidence"
echo mine >"$WORK/result/evidence/mine.txt"
exits 0 clean "$WORK/result" --yes
for notes in notes.txt evidence/mine.txt; do
    [ "$(cat "$WORK/result/$notes")" = mine ] || fail "$notes is gone"
done
[ ! -e "$WORK/result/ledger" ] || fail "the ledger is still there"
grep -qx 'removed 2 files and the report' "$WORK/out" || fail "not what was removed"
