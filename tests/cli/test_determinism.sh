#!/usr/bin/env bash
# test_determinism.sh - the mem engine with a seed gives the same bytes and the same result twice.
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || skip "python3 is not here"
for i in 1 2; do
    exits 0 run --dir "$DIR" --engine mem --seed 7 -d 2 --size 16M --set CONFIG.Reserve=1 \
        --out "$WORK/result" --quiet
    mkdir "$WORK/kept$i"
    cp "$DIR/sqliosim.mdx" "$DIR/sqliosim.ldx" "$WORK/result/ledger" \
        "$WORK/result/sqliosim.log.xml" "$WORK/kept$i"
    python3 - "$WORK/result/result.json" >"$WORK/kept$i/result" <<'PYTHON' || fail "no result"
import json, sys
result = json.load(open(sys.argv[1]))
del result["environment"], result["cpu"], result["run"]["started"], result["run"]["command"]
json.dump(result, sys.stdout, indent=1)
PYTHON
    rm -r "$WORK/result"
done
for file in sqliosim.mdx sqliosim.ldx ledger result sqliosim.log.xml; do
    [ -s "$WORK/kept1/$file" ] || fail "$file is empty"
    cmp "$WORK/kept1/$file" "$WORK/kept2/$file" || fail "$file differs"
done
