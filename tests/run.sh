#!/usr/bin/env bash
# run.sh [--long] - install what is missing, build, run every test.  This is what CI runs.
#
# All suites are entries of one ctest run in build/: the tests themselves, and one entry each for
# the sanitizer builds and the fuzz targets (tests/suite.sh).  So the last lines are ctest's summary
# of everything, and its exit code is ours.
#
#   --long   also the tests labelled `long`, random suites at ten times their size
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/tests/packages.sh"
. "$root/tests/build.sh"

selection=(-LE '^long$')
case "${1:-}" in
"") ;;
--long)
    selection=()
    export TEST_SCALE="${TEST_SCALE:-10}"
    ;;
*)
    echo "usage: tests/run.sh [--long]" >&2
    exit 2
    ;;
esac

packages_install build test extra
build_preset "$root" release "$root/build" -DBUILD_TESTING=ON -DWERROR=ON

# Two entries a processor: the runs of cli, crash and fault wait for disks and clocks half the time.
#
# The summary is held back until the reasons of the skips are printed: they belong at the end, and
# the summary is the end.
cd "$root/build"
status=0
{
    ctest --output-on-failure -j "$((2 * $(build_jobs)))" --no-tests=error \
        ${selection[@]+"${selection[@]}"} </dev/null 2>&1 || echo "ctest-status $?"
} | awk -v log_file="$root/build/Testing/Temporary/LastTest.log" -v status_file=ctest-status \
    -f "$root/tests/summary.awk"
read -r status <ctest-status
exit "$status"
