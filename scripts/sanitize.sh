#!/usr/bin/env bash
# Runs the tests under sanitizers: scripts/sanitize.sh thread|address …
#
# Each has its own build, in .build/sanitize-NAME. What a sanitizer finds is printed and makes the
# tests fail. Left out is the test that bounds the program's address space, of which the sanitizers take
# terabytes; and under the thread sanitizer all of CommandTests, which take too long there: FaultTests run the
# program too, disturbed.
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

run() {
    swift test --no-parallel --sanitize="$1" --build-path ".build/sanitize-$1" "${@:2}"
}

for sanitizer; do
    echo "== $sanitizer"
    case $sanitizer in
        thread) run thread --skip '^CommandTests' --skip FullDiskTests/scratch ;;
        address)
            # Nobody may look for leaks in a program that another one traces.
            traced='^FaultTests|ConfigurationTests/forbidden'
            run address --skip CorporaZipTests --skip "$traced"
            ASAN_OPTIONS="$ASAN_OPTIONS detect_leaks=0" run address --filter "$traced"
            ;;
        *) run "$sanitizer" --skip CorporaZipTests ;;
    esac
done
