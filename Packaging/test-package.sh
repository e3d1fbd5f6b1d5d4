#!/usr/bin/env bash
# Tries a package in a new system of each release: test-package.sh PACKAGE RELEASE…
#
# PACKAGE is a .deb or a tarball, RELEASE a name that debootstrap knows, such as bookworm, trixie or noble. Needs root and
# debootstrap. In each: install, first backup, restore, a timer; with a .deb also the upgrade from a version before, and the
# purge, which leaves nothing but the user's data.
set -euo pipefail

fail() {
    echo "test-package: error: $*" >&2
    exit 1
}
[ "$(id -u)" -eq 0 ] || fail "debootstrap needs root"
command -v debootstrap >/dev/null || fail "there is no debootstrap: apt-get install debootstrap"
package=$(realpath "$1")
shift

work=$(mktemp -d)
root=
clean_up() {
    if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
    rm -rf --one-file-system "$work"
}
trap clean_up EXIT

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/anna LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() { in_root setpriv --reuid=1234 --regid=1234 --clear-groups "$@"; }
# Runs a step whose output is of interest only if it fails: quietly MESSAGE COMMAND…
quietly() {
    local message=$1
    shift
    "$@" >"$work/log" 2>&1 || {
        tail -20 "$work/log"
        fail "$message"
    }
}
apt() { in_root apt-get -qq "$@"; }
# All that is not the user's, nor apt's and dpkg's own books.
files() {
    (cd "$root" && find . -xdev \( -path ./home/anna -o -path ./proc -o -path ./tmp -o -path ./var/lib/dpkg -o -path ./var/lib/apt \
        -o -path ./var/cache -o -path ./var/log -o -path ./dev -o -path ./run \) -prune -o -print | sort)
}

make_root() {
    local mirror components script
    root=$work/$1
    case "$1" in
    # Older versions of debootstrap do not know the newest releases, which all are made as this one is.
    focal | jammy | noble) mirror=http://archive.ubuntu.com/ubuntu components=main,universe script=gutsy ;;
    *) mirror=http://deb.debian.org/debian components=main script=sid ;;
    esac
    quietly "debootstrap cannot make $1" \
        debootstrap --variant=minbase --components="$components" "$1" "$root" "$mirror" "$script"
    mount -t proc proc "$root/proc"
    in_root useradd --uid 1234 --create-home anna
    apt update
    quietly "$1: no cron" apt install -y --no-install-recommends cron sqlite3
}

first_steps() {
    as_user grocerydude --version
    # shellcheck disable=SC2016 # The user's shell expands it.
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
        crontab -l | grep -q bin/grocerydude
    ' || fail "$1: the first steps"
}

# The same package with a lower version plays the version before.
make_version_before() {
    dpkg-deb -R "$package" "$work/before"
    sed -i 's/^Version: .*/Version: 0.0.1-1/' "$work/before/DEBIAN/control"
    dpkg-deb -b --root-owner-group "$work/before" "$work/before.deb" >/dev/null
}

try_deb() {
    files >"$work/files.before"
    cp "$package" "$root/tmp/new.deb"
    cp "$work/before.deb" "$root/tmp/before.deb"
    quietly "$1: it does not install" apt install -y --no-install-recommends /tmp/before.deb
    first_steps "$1"
    quietly "$1: no upgrade" apt install -y --no-install-recommends /tmp/new.deb
    as_user sh -euc '
        crontab -l | sed -n "s/^[^#][^/]*\(\/usr\/bin\/grocerydude.*\)/\1/p" | head -1 | sh
        grocerydude status
        grocerydude schedule remove
    ' || fail "$1: after the upgrade"
    quietly "$1: no purge" apt purge -y grocerydude
    quietly "$1: no autoremove" apt autoremove --purge -y
    files >"$work/files.after"
    diff "$work/files.before" "$work/files.after" || fail "$1: the purge leaves files"
}

try_tarball() {
    tar -xzf "$package" -C "$root/opt"
    in_root sh -c 'ln -s /opt/*/grocerydude /usr/bin/grocerydude'
    first_steps "$1"
    as_user grocerydude status
}

case "$package" in *.deb) make_version_before ;; esac
for release in "$@"; do
    echo "test-package: $release"
    make_root "$release"
    case "$package" in
    *.deb) try_deb "$release" ;;
    *) try_tarball "$release" ;;
    esac
    test -s "$root/home/anna/Stores/a.sqlite" || fail "$release: the data is gone"
    umount "$root/proc"
    rm -rf --one-file-system "$root"
    echo "test-package: $release: right"
done
