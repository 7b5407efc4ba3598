#!/usr/bin/env bash
# test_clean_not_ours.sh - clean of a folder that is no result is exit 2 and touches nothing.
. "$(dirname "$0")/common.sh"

mkdir other
echo '{"files": [{"path": "/etc/passwd"}]}' >other/result.json
refused other -- clean other --yes
