#!/usr/bin/env bash
# Runs the tests under sanitizers: scripts/sanitize.sh thread|address …
#
# Each has its own build, in .build/sanitize-NAME. What a sanitizer finds is printed and makes the
# tests fail. Left out are the tests that run the built program as a child process.
#
# Not supported by the toolchain on Linux: the undefined behaviour sanitizer for Swift code (Swift
# traps by itself), and the memory sanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."

export TSAN_OPTIONS="exitcode=66 suppressions=$PWD/scripts/sanitize-thread.txt ${TSAN_OPTIONS:-}"
export ASAN_OPTIONS="exitcode=66 detect_leaks=1 ${ASAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$PWD/scripts/sanitize-leaks.txt ${LSAN_OPTIONS:-}"

for sanitizer; do
    echo "== $sanitizer"
    swift test --sanitize="$sanitizer" --build-path ".build/sanitize-$sanitizer" \
        --skip "^CommandTests"
done
