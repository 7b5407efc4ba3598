#!/usr/bin/env bash
# Other processes at the files of a run, real ones: what they write, cut, remove, rename or replace
# is named as theirs, ends the run with exit code 3 also with StopOnError=FALSE, and nothing of it
# is blamed on the storage.  Who only reads is no matter.
set -eu
. "$2/tests/cli/lib.sh"
. "$2/tests/fault/real.sh"

dir=$work/d

# deed WHAT CLASS WORDS COMMAND...
deed() {
    local what=$1 class=$2 words=$3
    shift 3
    mkdir -p "$dir"
    run_start "$dir" --set CONFIG.StopOnError=FALSE
    ! grep -o 'Not watched.*' "$work/r/sqliosim.log.xml" >"$work/blind" ||
        skip "this kernel does not tell of other processes: $(cat "$work/blind")"
    "$@"
    run_end 3 "$what"
    expect_classes "$what" "$class"
    expect_text "$what" "$words"
    expect_text "$what" 'another process changed a file of this run'
    rm -rf "$dir"
}

over() { # FILE: 64 pages of noise into its middle
    dd if=/dev/urandom of="$1" bs=8192 count=64 seek=600 conv=notrunc status=none
}
replace() {
    cp "$1" "$1.copy"
    mv "$1.copy" "$1"
}

deed 'a write into the data file' foreign_write 'FOREIGN WRITE .*mdx: .*process.* wrote to the' \
    over "$dir/sqliosim.mdx"
deed 'a write into the log' foreign_write 'FOREIGN WRITE .*ldx: ' over "$dir/sqliosim.ldx"
deed 'truncation by name' foreign_write 'cut the file to 4194304 bytes, 16777216 were' \
    python3 -c 'import os, sys; os.truncate(sys.argv[1], 4 << 20)' "$dir/sqliosim.mdx"
deed 'removal' file_replaced 'FILE REPLACED .*mdx: .*removed, renamed or replaced' \
    rm "$dir/sqliosim.mdx"
deed 'rename' file_replaced 'FILE REPLACED .*ldx: ' mv "$dir/sqliosim.ldx" "$dir/elsewhere"
deed 'replacement' file_replaced 'FILE REPLACED .*mdx: ' replace "$dir/sqliosim.mdx"

# Readers through the page cache, and metadata: no matter.
mkdir -p "$dir"
run_start "$dir" -d 6
for _ in 1 2 3 4; do
    cat "$dir/sqliosim.mdx" "$dir/sqliosim.ldx" >/dev/null
    chmod 640 "$dir/sqliosim.mdx"
    touch "$dir/sqliosim.mdx"
    sleep 0.5
done
run_end 0 'readers beside'
expect_classes 'readers beside' ''
grep -q '^INTEGRITY   PASS' "$out" || failed 'readers beside: not PASS' "$out"

# An ordinary user may ask the kernel, too (since Linux 5.13), but not who it was.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    open=$(mktemp -d /tmp/pagestorm-others-XXXXXX)
    at_end rm -rf "$open"
    rm -rf "$dir"
    cp "$pagestorm" "$open/pagestorm"
    mkdir "$open/d"
    chown -R 65534 "$open"
    cat >"$open/as_user" <<USER
#!/bin/sh
exec setpriv --reuid=65534 --regid=65534 --clear-groups '$open/pagestorm' "\$@"
USER
    chmod 755 "$open/as_user"
    saved=$work
    root_binary=$pagestorm
    pagestorm=$open/as_user work=$open
    run_start "$open/d"
    if grep -q 'Not watched' "$open/r/sqliosim.log.xml"; then
        echo "SKIP of a part: this kernel tells an ordinary user nothing of other processes"
        run_kill
        wait "$run_process" || true
        run_process=
    else
        over "$open/d/sqliosim.mdx"
        run_end 3 'as an ordinary user'
        expect_classes 'as an ordinary user' foreign_write
        expect_text 'as an ordinary user' 'another process wrote to the file'
    fi
    pagestorm=$root_binary work=$saved
fi

conclude
