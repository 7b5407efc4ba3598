#!/usr/bin/env bash
# quickstart.sh [FOLDER] - from a fresh clone to a verdict on one folder, in a few minutes.
#
# Installs what is missing to build, builds build/pagestorm, and runs it for half a minute on FOLDER
# (made when only its last component is missing) or on a new folder here.
#
# Exit: 0 the run is complete and found no integrity fault; 1 integrity failed; otherwise the exit
# code of what could not be done, with the reason above it.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/tests/packages.sh"
. "$root/tests/build.sh"

fail() {
    printf 'quickstart: %s\n' "$*" >&2
    exit 2
}

case "${1:-}" in
-*)
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    [ "$1" = -h ] || [ "$1" = --help ] || exit 2
    exit 0
    ;;
esac

created=()
drop_empty() { # what we made and nobody filled
    [ ${#created[@]} -eq 0 ] || rmdir "${created[@]}" 2>/dev/null || :
}
trap drop_empty EXIT

if [ $# -gt 0 ]; then
    folder=$1
    if [ ! -d "$folder" ]; then
        mkdir "$folder" ||
            fail "$folder does not exist and cannot be made. Is the file system mounted?"
        created+=("$(cd "$folder" && pwd -P)")
    fi
else
    folder=$(mktemp -d "$PWD/pagestorm-quickstart-XXXX") ||
        fail "no folder can be made here. Name one: samples/quickstart.sh /path/on/the/disk"
    created+=("$folder")
fi
folder=$(cd "$folder" && pwd -P)

case $(stat -f -c %T "$folder") in
tmpfs | ramfs)
    fail "$folder is in memory (tmpfs), not on a disk. Name a folder on the storage that you" \
        "want to test: samples/quickstart.sh /var/tmp/pagestorm"
    ;;
esac

packages_install build || fail "the build needs the packages above (README.md lists them)"
# A newer compiler may warn where ours do not: no reason not to build.
build_preset "$root" release "$root/build" -DBUILD_TESTING=OFF -DWERROR=OFF -- pagestorm ||
    fail "the build failed, see above"

here=$PWD
[ -w "$here" ] || here=/var/tmp
results=$(mktemp -u "$here/pagestorm-quickstart-results-XXXX") # run makes it

echo
echo "Running: build/pagestorm run --dir $folder -d 30 --size 256M --out $results"
status=0
"$root/build/pagestorm" run --dir "$folder" -d 30 --size 256M --out "$results" || status=$?

echo
case $status in
0) echo "The storage of $folder returned all that was written to it." ;;
1) echo "INTEGRITY FAILED: the storage of $folder did not return what was written. Each finding" \
    "is in $results/result.json." ;;
2) echo "The run was refused before the first byte was written: see the message above." ;;
3) echo "The run could not start or did not complete (space, memory, device): see the message" \
    "above." ;;
4) echo "The data is right; a limit of speed was missed: see the verdict above." ;;
130) echo "The run was interrupted; what it measured until then is in the results." ;;
*) echo "The program ended with the unexpected code $status: please report it with the output" \
    "above." ;;
esac
if [ -e "$results/result.json" ]; then
    cat <<END

Results:        $results  (result.json has every figure)
Check again:    $root/build/pagestorm verify $results
Remove the files of the run, and the results with report and evidence (asks first):
                $root/build/pagestorm clean $results
END
    [ ${#created[@]} -eq 0 ] || echo "Then the folder: rmdir ${created[0]}"
fi
[ "$status" -ne 4 ] || status=0
exit "$status"
