# shellcheck shell=bash
# build.sh - configure and build a CMake preset.  Sourced by tests/run.sh, tests/suite.sh and
# samples/quickstart.sh; works from any folder, in a tree that was copied from elsewhere, too.

build_jobs() {
    nproc 2>/dev/null || echo 2
}

# A cache that was written in another place is useless: CMake refuses it.
build_drop_foreign_cache() { # ROOT BUILD-FOLDER
    local cache=$2/CMakeCache.txt

    if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$1" "$cache"; then
        rm -rf "$cache" "$2/CMakeFiles"
    fi
}

build_preset() { # ROOT PRESET BUILD-FOLDER [cmake -D options...] [-- targets...]
    local root=$1 preset=$2 folder=$3 options=()
    shift 3

    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    build_drop_foreign_cache "$root" "$folder"
    # Only the default for a new folder: an existing one keeps its generator.
    if [ -z "${CMAKE_GENERATOR:-}" ] && [ ! -e "$folder/CMakeCache.txt" ] &&
        command -v ninja >/dev/null; then
        options+=(-G Ninja)
    fi
    (cd "$root" && cmake --preset "$preset" ${options[@]+"${options[@]}"}) || return 1
    (cd "$root" && cmake --build "$folder" -j "$(build_jobs)" ${1:+--target "$@"})
}
