#!/usr/bin/env bash
# test_unknown_option.sh - an unknown option is exit 2 with the nearest name.
. "$(dirname "$0")/common.sh"

refused --sizee --size -- run --dir "$DIR" --sizee 16M

# A key of --set was typed just now: no run may begin without what was asked for.
refused 'RandomUser' 'UserCount' -- run --dir "$DIR" "${QUICK[@]}" --set RandomUser.UserCont=3
refused 'unknown section' -- run --dir "$DIR" "${QUICK[@]}" --set Foo.Bar=1
