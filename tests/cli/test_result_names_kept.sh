#!/usr/bin/env bash
# test_result_names_kept.sh - a file under test, or --save, with a name that the result folder needs
# is exit 2, with nothing written.
. "$(dirname "$0")/common.sh"

mkdir result
ln -s result other
for name in result.json result.json.part ledger evidence; do
    for folder in result other; do
        two_files
        sed -i "s,^FileName=.*ldx,FileName=$PWD/$folder/$name," c.ini
        refused "$folder/$name" -- run --cfg c.ini -d 1 --set CONFIG.Reserve=1 --out result
    done
done
refused result/ledger -- run --dir "$DIR" "${QUICK[@]}" --out result --save result/ledger
# Another name there, and the same name elsewhere, are in nobody's way.
two_files
sed -i "s,^FileName=.*ldx,FileName=$PWD/result/my.ldx," c.ini
sed -i "s,^FileName=.*mdx,FileName=$DIR/result.json," c.ini
exits 0 run --cfg c.ini -d 1 --engine mem --set CONFIG.Reserve=1 --out result
