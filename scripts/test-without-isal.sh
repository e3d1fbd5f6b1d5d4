#!/usr/bin/env bash
# Runs the tests in a new system that has no ISA-L, so that zlib deflates: test-without-isal.sh [argument of swift test …]
#
# The system is this one's release, as debootstrap makes it, with the packages that README names for a build and nothing
# else; only the Swift toolchain is that of this system. What is tested is the commit, without changes that are not
# committed. Needs root and debootstrap.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "test-without-isal: error: $*" >&2
    exit 1
}
[ "$(id -u)" -eq 0 ] || fail "debootstrap needs root"
command -v debootstrap >/dev/null || fail "there is no debootstrap: apt-get install debootstrap"
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
[ "$toolchain" != /usr ] || fail "the toolchain is in /usr, and not in a directory of its own"
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")

work=$(mktemp -d "${TMPDIR:-/tmp}/grocerydude-without-isal.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
# A toolchain needs a C++ library's headers, and the libraries of its own programs.
debootstrap --variant=minbase "$suite" "$root" http://deb.debian.org/debian >"$work/log" ||
    { tail -20 "$work/log" >&2 && fail "debootstrap cannot make $suite"; }
toolchain_needs=(ca-certificates g++ git libcurl4 libedit2 libncurses6 libsqlite3-0 libxml2 make procps python3 tzdata)

# The packages are resolved here, where git may know a mirror. They name each other by this system's path, which the new
# one knows by a link.
git clone -q . "$root/src"
if [ -f Package.resolved ]; then cp Package.resolved "$root/src"; fi
swift package --package-path "$root/src" --scratch-path "$root/src/.build/optimized" resolve
mkdir -p "$root$work"
ln -s / "$root$root"

# The mounts are in a namespace of their own, and go with it. A test looks at processes of other namespaces: with pivot_root
# their paths are those that they have in this one, which chroot would not give.
# shellcheck disable=SC2016 # The inner shells expand it.
unshare --mount sh -euc '
    root=$1 toolchain=$2 needs=$3
    shift 3
    mount --rbind "$root" "$root"
    mkdir -p "$root$toolchain"
    mount --rbind "$toolchain" "$root$toolchain"
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    cd "$root"
    mkdir -p before
    pivot_root . before
    cd /
    umount --lazy before
    exec env -i PATH="$toolchain/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive sh -euc "
            apt-get -qq update
            apt-get -qq install -y --no-install-recommends $needs >/dev/null
            git config --global --add safe.directory \"*\"
            cd /src
            scripts/install-dependencies.sh without-isal
            if [ -e /usr/include/isa-l.h ]; then
                echo \"test-without-isal: error: something brought ISA-L\" >&2
                exit 1
            fi
            scripts/test.sh \"\$@\"
            .build/optimized/release/grocerydude --version
        " test-without-isal "$@"
' test-without-isal "$root" "$toolchain" "${toolchain_needs[*]}" "$@"
