#!/usr/bin/env bash
# test_error_log.sh - the XML log: where it is, what is refused, what an old ErrorFile becomes.
. "$(dirname "$0")/common.sh"

MEM=("${QUICK[@]}" --engine mem --seed 3 --quiet)

# log_at FILE: a log of a whole run is there, with its stylesheet beside it
log_at() {
    [ -s "$1" ] || fail "no log at $1"
    [ "$(tail -n 1 "$1")" = '</SQLIOSIM>' ] || fail "$1 does not end with its root"
    grep -q 'TestCycleDuration = 1 s' "$1" || fail "$1 has no start row"
    [ -s "$(dirname "$1")/ErrorLog.xslt" ] || fail "no stylesheet beside $1"
    command -v xmllint >/dev/null || return 0
    xmllint --noout "$1" "$(dirname "$1")/ErrorLog.xslt" || fail "$1 is not well-formed"
}

# new_run ARGUMENTS...: a run with a fresh result folder that must succeed
new_run() {
    rm -rf "$WORK/result"
    exits 0 run --dir "$DIR" "${MEM[@]}" --out "$WORK/result" "$@"
}

command -v xmllint >/dev/null || echo "SKIP of a part: xmllint is not installed"

new_run
log_at "$WORK/result/sqliosim.log.xml"

# The table begins with the result, not with a screen of settings.
if command -v xsltproc >/dev/null; then
    xsltproc "$WORK/result/ErrorLog.xslt" "$WORK/result/sqliosim.log.xml" >"$WORK/log.html" ||
        fail "the style sheet does not work"
    [ "$(grep -n '<b>RESULT: PASS' "$WORK/log.html" | cut -d: -f1)" -lt \
        "$(grep -n '<table' "$WORK/log.html" | cut -d: -f1)" ] || fail "the result is not first"
else
    echo "SKIP of a part: xsltproc is not installed"
fi

new_run -log other.xml
log_at "$WORK/result/other.xml"
[ ! -e other.xml ] || fail "a bare name went to the current directory"
exits 0 clean "$WORK/result" --yes
[ ! -e "$WORK/result" ] || fail "clean left the folder with a log of another name"

mkdir logs
new_run -log logs/a.xml
log_at logs/a.xml
[ ! -e "$WORK/result/sqliosim.log.xml" ] || fail "two logs"
new_run -log logs/a.xml # an earlier log is replaced
log_at logs/a.xml

printf '[CONFIG]\nErrorFile=c:\\temp\\old.xml\n' >old.ini
new_run old.ini
log_at "$WORK/result/old.xml"
grep -q "TYPE='WARNING'" "$WORK/result/old.xml" || fail "the log has no warning"
grep -q 'warning: old.ini:2:.*old.xml in the result folder' "$WORK/err" || fail "no warning"
mkdir logs/temp
new_run old.ini --map "c:=$WORK/cwd/logs"
log_at logs/temp/old.xml

new_run --set CONFIG.ErrorFile=
[ ! -e "$WORK/result/sqliosim.log.xml" ] || fail "an empty ErrorFile gave a log"

rm -rf "$WORK/result"
echo 'Dear diary' >logs/diary.xml
refused 'no log of this kind' -- run --dir "$DIR" "${MEM[@]}" -log logs/diary.xml
refused 'directory does not exist' 'none/x.xml' -- run --dir "$DIR" "${MEM[@]}" -log none/x.xml
refused 'is a directory' -- run --dir "$DIR" "${MEM[@]}" -log ./logs
refused 'a file under test' -- run --dir "$DIR" "${MEM[@]}" -log "$DIR/./new.mdx" \
    --set File1.FileName="$DIR/new.mdx" --set File1.InitialSize=16 \
    --set File2.FileName="$DIR/new.ldx" --set File2.InitialSize=8 --set File2.LogFile=TRUE
refused 'not a regular file' -- run --dir "$DIR" "${MEM[@]}" -log /dev/null
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w logs
    refused 'Permission denied' -- run --dir "$DIR" "${MEM[@]}" -log logs/new.xml
    chmod u+w logs
fi
