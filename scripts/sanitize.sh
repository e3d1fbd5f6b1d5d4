#!/usr/bin/env bash
# Runs the tests under sanitizers: scripts/sanitize.sh thread|address …
#
# Each has its own build, in .build/sanitize-NAME. What a sanitizer finds is printed and makes the
# tests fail. Left out are the tests that run the built program as a child process.
#
# One test runs at a time: they are slow here, and one that waits for its child would keep what watches
# over another one's child from running. Under the thread sanitizer, nothing can start where the temporary
# directory is full: it maps a file there.
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
    skipped=(--skip "^CommandTests")
    if [ "$sanitizer" = thread ]; then skipped+=(--skip FullDiskTests/scratch); fi
    swift test --no-parallel --sanitize="$sanitizer" --build-path ".build/sanitize-$sanitizer" \
        "${skipped[@]}"
done
