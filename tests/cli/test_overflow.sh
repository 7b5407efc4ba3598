#!/usr/bin/env bash
# test_overflow.sh - a number beyond 64 bits is exit 2, never wrapped.
. "$(dirname "$0")/common.sh"

two_files
printf '[RandomUser]\nUserCount=18446744073709551617\n' >>c.ini
refused UserCount 18446744073709551617 -- run c.ini
