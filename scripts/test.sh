#!/usr/bin/env bash
# Runs the tests, and says again at the end what failed: scripts/test.sh [argument of swift test …]
set -uo pipefail
cd "$(dirname "$0")/.."

mkdir -p .build
log=.build/test.log
swift test "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" != 0 ]; then
    printf '\nThe first things that failed (all is in %s):\n' "$log"
    grep --text -E 'recorded an issue|(^| )error: |Fatal error' "$log" | head -n 15 | cut -c1-1000
fi
exit "$status"
