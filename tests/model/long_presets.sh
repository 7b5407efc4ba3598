#!/usr/bin/env bash
# long_presets.sh - test_presets.sh with 1,000 seeds of each preset.
PRESET_SEEDS=1000 exec bash "$2/tests/model/test_presets.sh" "$@"
