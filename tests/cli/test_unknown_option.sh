#!/usr/bin/env bash
# test_unknown_option.sh - an unknown option is exit 2 with the nearest name.
. "$(dirname "$0")/common.sh"

refused --sizee --size -- run --dir "$DIR" --sizee 16M
