#!/usr/bin/env bash
# test_all_mistakes_at_once.sh - every mistake of a configuration is reported in one go.
. "$(dirname "$0")/common.sh"

two_files MaxSize=8
printf '[RandomUser]\nUserCount=x\n[CONFIG]\nTestCycleDuration=-1\n[AuditUser]\n' >>c.ini
printf 'BuffersValidated=1.5\n' >>c.ini
refused UserCount TestCycleDuration BuffersValidated InitialSize -- run c.ini
