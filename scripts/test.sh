#!/usr/bin/env bash
# Runs the tests, and says again at the end what failed: scripts/test.sh [argument of swift test …]
#
# They run optimized, in a build of their own: in a fifth of the time, and it is what people run. 'swift test' alone
# builds faster after a change, and runs them as they are debugged.
#
# Without arguments, three processes run a part each at the same time: most tests wait for a child or for the disk.
set -uo pipefail
cd "$(dirname "$0")/.."

build=(-c release --scratch-path .build/optimized -Xswiftc -enable-testing)

# Runs tests in one process: run LOG [argument of swift test …]
run() {
    swift test "${build[@]}" --skip-build --ignore-lock "${@:2}" 2>&1 | tee "$1"
    return "${PIPESTATUS[0]}"
}

rm -f .build/test*.log
swift build --build-tests "${build[@]}" || exit
status=0
if [ $# -gt 0 ]; then
    run .build/test.log "$@" || status=$?
else
    parts=('^CommandTests' '^(FaultTests|SyncTests|ChangesTests)')
    processes=()
    for number in "${!parts[@]}"; do
        run ".build/test-$number.log" --filter "${parts[number]}" &
        processes+=($!)
    done
    run .build/test-rest.log "${parts[@]/#/--skip=}" || status=$?
    for process in "${processes[@]}"; do wait "$process" || status=$?; done
fi
if [ "$status" != 0 ]; then
    printf '\nThe first things that failed (all is in .build/test*.log):\n'
    # The lines below an issue say with which seed, and how; other lines of errors are the program's own words.
    grep --text --no-filename -A 12 -E 'recorded an issue|\.swift:[0-9:]+ error: |^error: |Fatal error' .build/test*.log |
        grep --text -vE '^--$|(started|passed after [0-9.]+ seconds)\.$|^grocerydude: ' | head -n 60 | cut -c1-1000
fi
exit "$status"
