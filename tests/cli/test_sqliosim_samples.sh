#!/usr/bin/env bash
# test_sqliosim_samples.sh - SQLIOSim's own five configurations, unmodified: every user works, every
# kind of I/O happens, what is read is verified also in the main part, and that lasts as long as it
# was told to.  The command line makes files and time small; the files are SQLIOSim's.
# shellcheck source=tests/cli/lib.sh
. "$2/tests/cli/lib.sh"

samples=$root/../shared/data/sqliosim
[ -d "$samples" ] || skip "SQLIOSim's samples are not beside the repository"
command -v python3 >/dev/null || skip "python3 is not installed"

seconds=1

# Streams that the main part must have, in the order of the files.
declare -A expected=(
    [default]="page_read read_ahead eager_write log_write commit audit_read"
    [hwcache]="page_read eager_write log_write commit"
    [nothrottle]="page_read read_ahead eager_write log_write commit audit_read"
    [seqwrites]="eager_write log_write commit"
    [sparse]="page_read read_ahead eager_write log_write commit audit_read"
)
declare -A users=(
    [default]="RandomUser AuditUser ReadAheadUser BulkUpdateUser"
    [hwcache]="RandomUser BulkUpdateUser"
    [nothrottle]="RandomUser AuditUser ReadAheadUser BulkUpdateUser"
    [seqwrites]="BulkUpdateUser"
    [sparse]="RandomUser AuditUser ReadAheadUser BulkUpdateUser"
)
# Only what would need gigabytes or minutes; and where no AuditUser is, CPU idle users that look at
# memory alone, since what they read from the disk counts as audit_read too.
declare -A smaller=(
    [default]="--size 16M" [nothrottle]="--size 16M"
    [seqwrites]="--size 16M --set CpuIdleUser.DiskShare=0"
    [hwcache]="--set File1.InitialSize=16 --set File2.InitialSize=8 --set CpuIdleUser.DiskShare=0"
    [sparse]="--set File1.InitialSize=16 --set File2.InitialSize=8 --set File3.InitialSize=16"
)

check_result() { # NAME: what result.json must say
    python3 - "$work/$1/result.json" "$seconds" "${expected[$1]}" "${users[$1]}" <<'PY'
import json, sys
path, seconds = sys.argv[1], float(sys.argv[2])
streams, users = sys.argv[3].split(), sys.argv[4].split()
r = json.load(open(path))
bad = []
main = {s['name']: s for s in r['streams'] if s['phase'] == 'stress'}
audit = {s['name']: s for s in r['streams'] if s['phase'] == 'audit'}
ops = {}
for a in r['actors']:
    ops.setdefault(a['name'].rsplit(' ', 1)[0], []).append(a['ops'])
for kind in users:
    if kind not in ops:
        bad.append(f'no actor {kind}')
    elif min(ops[kind]) == 0:
        bad.append(f'a {kind} did nothing: {ops[kind]}')
for kind in {'RandomUser', 'AuditUser', 'ReadAheadUser', 'BulkUpdateUser'} - set(users):
    if kind in ops:
        bad.append(f'{kind} has UserCount=0 and is there')
for name in streams:
    if main.get(name, {}).get('ops', 0) == 0:
        bad.append(f'main part without {name}')
for name in main:
    if name in ('page_read', 'read_ahead', 'audit_read') and name not in streams:
        bad.append(f'main part with {name}, which nobody asked for')
cycles = r['run']['cycles']
if cycles != int(r['config'].get('CONFIG', {}).get('TestCycles', cycles)):
    bad.append(f'{cycles} cycles')
lasted = sum(p['seconds'] for p in r['run']['phases'] if p['name'] == 'stress')
if lasted < seconds * cycles:
    bad.append(f'the main part lasted {lasted} s, not {seconds} x {cycles}')
if audit.get('audit_read', {}).get('ops', 0) == 0:
    bad.append('nothing was audited')
if r['integrity']['findings']:
    bad.append('findings: %s' % [f['class'] for f in r['integrity']['findings']])
if not r['run']['complete'] or r['verdict']['integrity']['grade'] not in ('PASS', 'WARN'):
    bad.append('verdict: %s' % r['verdict'])
print('\n'.join(bad))
sys.exit(bool(bad))
PY
}

# The independent checker wants .mdf names for data.
check_files() { # NAME DIRECTORY
    local log data link
    log=$(echo "$2"/*.ldx)
    for data in "$2"/*.mdx*; do
        link=$2/check.mdf
        ln -f "$data" "$link"
        expect_exit 0 "$1: mdfcheck ${data##*/}" "$work/check" python3 "$mdfcheck" "$link"
        rm "$link"
    done
    expect_exit 0 "$1: mdfcheck ${log##*/}" "$work/check" python3 "$mdfcheck" "$log"
    expect_exit 0 "$1: mdfcheck --pair" "$work/check" python3 "$mdfcheck" --pair \
        "$2/sqliosim.mdx" "$log"
}

for file in "$samples"/sqliosim.*.cfg.ini; do
    name=${file##*/sqliosim.}
    name=${name%.cfg.ini}
    directory=$work/$name.files
    mkdir "$directory"
    # shellcheck disable=SC2086 # options are words
    expect_exit 0 "$name" "$work/$name.txt" "$pagestorm" run "$file" --dir "$directory" \
        -d $seconds ${smaller[$name]} --set CONFIG.Reserve=1 --out "$work/$name" || continue
    check_result "$name" >"$work/$name.bad" || failed "$name" "$work/$name.bad"
    expect_exit 0 "$name: verify" "$work/verify" "$pagestorm" verify "$work/$name"
    [ -z "$mdfcheck" ] || check_files "$name" "$directory"
    rm -rf "$directory"
done
conclude
