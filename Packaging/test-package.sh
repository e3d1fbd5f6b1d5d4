#!/usr/bin/env bash
# Tries a package in a new system of each release: test-package.sh PACKAGE RELEASE…
#
# PACKAGE is a .deb or a tarball, RELEASE a name that debootstrap knows, such as bookworm, trixie or noble, or 'image' for the
# steps of the Containerfile. Needs root and debootstrap. In each: install, first backup, restore, a timer; with a .deb also the upgrade from a version before, and the
# purge, which leaves nothing but the user's data.
set -euo pipefail

fail() {
    echo "test-package: error: $*" >&2
    exit 1
}
[ "$(id -u)" -eq 0 ] || fail "debootstrap needs root"
command -v debootstrap >/dev/null || fail "there is no debootstrap: apt-get install debootstrap"
package=$(realpath "$1")
containerfile=$(dirname "$(realpath "$0")")/Containerfile
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

# The steps of the last stage, one a line.
image_steps() { sed -e '/^#/d' -e ':a' -e '/\\$/N; s/\\\n *//; ta' "$containerfile" | tac | sed '/^FROM/q' | tac; }

# Runs the image's steps, and then the image: as its user, with a read-only root, and with mounts for all that is written.
try_image() {
    local step verb arguments environment=() user=
    while IFS= read -r step; do
        verb=${step%% *} arguments=${step#* }
        case "$verb" in
        COPY) cp "$package" "$root/tmp/grocerydude.deb" ;;
        RUN) quietly "image: $arguments" in_root sh -c "$arguments" ;;
        ENV) read -ra environment <<<"$arguments" ;;
        USER) user=$arguments ;;
        FROM | ENTRYPOINT | CMD | '') ;;
        *) fail "image: this step is unknown: $step" ;;
        esac
    done < <(image_steps)
    mkdir "$root/stores" "$root/state" 2>/dev/null || true
    in_root sqlite3 /stores/a.sqlite "CREATE TABLE item (name TEXT); INSERT INTO item VALUES (1), (2)"
    chown -R "$user" "$root/stores" "$root/state"
    # shellcheck disable=SC2016 # The inner shell expands it.
    unshare --mount sh -euc '
        root=$1 user=$2
        shift 2
        mount --rbind "$root" "$root"
        for place in stores state tmp; do mount --bind "$root/$place" "$root/$place"; done
        mount -o remount,bind,ro "$root"
        run() { chroot "$root" setpriv --reuid="$user" --regid="$user" --clear-groups env -i PATH=/usr/bin:/bin "$@"; }
        if run "$@" grocerydude backup; then echo "a backup without a mount is done"; exit 1; fi
        mount -t tmpfs tmpfs "$root/mnt" -o "mode=700,uid=$user"
        run "$@" GROCERYDUDE_REMOTE=/mnt grocerydude backup
        run "$@" sqlite3 /stores/a.sqlite "DELETE FROM item"
        run "$@" GROCERYDUDE_REMOTE=/mnt grocerydude restore latest --yes
        test "$(run sqlite3 /stores/a.sqlite "SELECT count(*) FROM item")" = 2
    ' image "$root" "$user" "${environment[@]}" || fail "image: it does not run"
}

case "$package" in *.deb) make_version_before ;; esac
for release in "$@"; do
    echo "test-package: $release"
    if [ "$release" = image ]; then make_root bookworm; else make_root "$release"; fi
    case "$release $package" in
    image\ *) try_image ;;
    *.deb) try_deb "$release" ;;
    *) try_tarball "$release" ;;
    esac
    test -s "$root/home/anna/Stores/a.sqlite" || test -s "$root/stores/a.sqlite" || fail "$release: the data is gone"
    umount "$root/proc"
    rm -rf --one-file-system "$root"
    echo "test-package: $release: right"
done
