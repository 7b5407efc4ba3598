#!/usr/bin/env bash
# Stopped for 20 s: longer than the 15 s after which a request is stalled.
PAUSE_SECONDS=20 exec bash "$2/tests/fault/test_real_pause.sh" "$@"
