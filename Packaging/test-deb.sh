#!/usr/bin/env bash
# Installs a package in a new system of each release, and tries it: test-deb.sh PACKAGE RELEASE…
#
# RELEASE is a name that debootstrap knows, such as bookworm, trixie or noble. Needs root and debootstrap. In each: install,
# first backup, restore, a timer, upgrade from a version before, purge. Nothing is left but the user's data.
set -euo pipefail

package=$(realpath "$1")
shift
fail() {
    echo "test-deb: error: $*" >&2
    exit 1
}
[ "$(id -u)" -eq 0 ] || fail "debootstrap needs root"
command -v debootstrap >/dev/null || fail "there is no debootstrap: apt-get install debootstrap"

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

# The same package with a lower version plays the version before.
dpkg-deb -R "$package" "$work/before"
sed -i 's/^Version: .*/Version: 0.0.1-1/' "$work/before/DEBIAN/control"
dpkg-deb -b --root-owner-group "$work/before" "$work/before.deb" >/dev/null

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/anna LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() { in_root setpriv --reuid=1234 --regid=1234 --clear-groups "$@"; }
# All that is not the user's, nor apt's and dpkg's own books.
files() {
    (cd "$root" && find . -xdev \( -path ./home/anna -o -path ./proc -o -path ./tmp -o -path ./var/lib/dpkg -o -path ./var/lib/apt \
        -o -path ./var/cache -o -path ./var/log -o -path ./dev \) -prune -o -print | sort)
}

for release in "$@"; do
    root=$work/$release
    echo "test-deb: $release"
    case "$release" in
    # Older versions of debootstrap do not know the newest releases, which all are made as this one is.
    noble | jammy) mirror=http://archive.ubuntu.com/ubuntu components=main,universe script=gutsy ;;
    *) mirror=http://deb.debian.org/debian components=main script=sid ;;
    esac
    debootstrap --variant=minbase --components="$components" "$release" "$root" "$mirror" "$script" >"$work/log" 2>&1 || {
        tail -20 "$work/log"
        fail "debootstrap cannot make $release"
    }
    mount -t proc proc "$root/proc" 2>/dev/null || true
    in_root useradd --uid 1234 --create-home anna
    in_root apt-get -qq update
    in_root apt-get -qq install -y --no-install-recommends cron sqlite3 >"$work/log" 2>&1 || fail "$release: no cron"
    files >"$work/files.before"
    cp "$package" "$root/tmp/new.deb"
    cp "$work/before.deb" "$root/tmp/before.deb"
    in_root apt-get -qq install -y --no-install-recommends /tmp/before.deb >"$work/log" 2>&1 || {
        tail -20 "$work/log"
        fail "$release: it does not install"
    }
    in_root ldd /usr/bin/grocerydude | grep -q 'not found' && fail "$release: a library is missing"
    as_user grocerydude --version

    as_user sh -euc '
        mkdir -p ~/Stores ~/Backups
        sqlite3 ~/Stores/a.sqlite "PRAGMA journal_mode = WAL; CREATE TABLE item (name TEXT); INSERT INTO item VALUES (1), (2)"
        grocerydude link ~/Backups --stores ~/Stores
        grocerydude backup
        sqlite3 ~/Stores/a.sqlite "DELETE FROM item"
        grocerydude restore latest --yes
        test "$(sqlite3 ~/Stores/a.sqlite "SELECT count(*) FROM item")" = 2
        grocerydude check
        grocerydude schedule install --schedule "daily 03:30" --kind cron
        crontab -l | grep -q /usr/bin/grocerydude
    ' || fail "$release: the first steps"

    in_root apt-get -qq install -y --no-install-recommends /tmp/new.deb >"$work/log" 2>&1 || fail "$release: no upgrade"
    as_user sh -euc '
        crontab -l | sed -n "s/^[^#][^/]*\(\/usr\/bin\/grocerydude.*\)/\1/p" | head -1 | sh
        grocerydude status
        grocerydude schedule remove
    ' || fail "$release: after the upgrade"

    in_root apt-get -qq purge -y grocerydude >"$work/log" 2>&1 || fail "$release: no purge"
    in_root apt-get -qq autoremove --purge -y >"$work/log" 2>&1
    files >"$work/files.after"
    diff "$work/files.before" "$work/files.after" || fail "$release: the purge leaves files"
    test -s "$root/home/anna/Stores/a.sqlite" || fail "$release: the purge took data"
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
    echo "test-deb: $release: right"
done
