#!/usr/bin/env bash
# Installs what is needed to build, test and try grocerydude, as far as it is missing; with 'packages' as its argument,
# also what 'make deb', 'make dist' and 'make test-packages' need; with 'without-isal', all but ISA-L, which a build can do
# without.
#
# A library that cannot be installed is a failure. A tool that only the tests and the demo use is
# not: its tests say that it is missing.
set -euo pipefail

# What the program is linked against; pkg-config shows the package manager where that is.
libraries=(libzip-dev libsqlite3-dev zlib1g-dev pkg-config)
if [ "${1:-}" != without-isal ]; then libraries+=(libisal-dev); fi
# Tools that tests and the demo run: command and Debian package.
tools=(
    sqlite3:sqlite3
    unzip:unzip
    zip:zip
    7z:p7zip-full
    bsdtar:libarchive-tools
    strace:strace
    age:age
    curl:curl
    ssh-keygen:openssh-client
    rclone:rclone
    fusermount3:fuse3
    systemd-analyze:systemd
)

if [ "${1:-}" = packages ]; then
    # Libraries that are linked into the program, and what builds those of them that Debian has no static form of.
    libraries+=(build-essential cmake nasm debhelper libbz2-dev liblzma-dev libzstd-dev)
    tools+=(lintian:lintian debootstrap:debootstrap)
fi

warn() { echo "install-dependencies: warning: $*" >&2; }
fail() {
    echo "install-dependencies: error: $*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        warn "this needs root, and there is no sudo: $*"
        return 1
    fi
}

missing_tools() {
    local tool
    for tool in "${tools[@]}"; do
        command -v "${tool%%:*}" >/dev/null || echo "${tool##*:}"
    done
}

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

install_with_apt() {
    local package wanted libraries_to_install=() tools_to_install=()
    for package in "${libraries[@]}"; do
        is_installed "$package" || libraries_to_install+=("$package")
    done
    mapfile -t tools_to_install < <(missing_tools)
    wanted=("${libraries_to_install[@]}" "${tools_to_install[@]}")
    if [ ${#wanted[@]} -eq 0 ]; then return; fi

    echo "install-dependencies: installing ${wanted[*]}"
    as_root apt-get update || warn "'apt-get update' failed; going on with the lists that there are"
    if [ ${#libraries_to_install[@]} -gt 0 ]; then
        apt_install "${libraries_to_install[@]}" ||
            fail "cannot install: ${libraries_to_install[*]}"
    fi
    # One at a time, so that one that is not there keeps no other out.
    for package in "${tools_to_install[@]}"; do
        apt_install "$package" ||
            warn "cannot install '$package': tests that use it will not run"
    done
}

# Not yet tried.
install_with_homebrew() {
    local formula
    command -v brew >/dev/null || fail "Homebrew is missing: see https://brew.sh"
    for formula in libzip sqlite isa-l zlib pkgconf; do
        brew list --formula "$formula" >/dev/null 2>&1 || brew install "$formula" ||
            fail "cannot install: $formula"
    done
    for formula in sevenzip rclone; do
        brew list --formula "$formula" >/dev/null 2>&1 || brew install "$formula" ||
            warn "cannot install '$formula': tests that use it will not run"
    done
}

command -v swift >/dev/null || fail "there is no 'swift': install a toolchain, see https://www.swift.org/install"
case "$(uname -s)" in
Darwin) install_with_homebrew ;;
Linux)
    command -v apt-get >/dev/null ||
        fail "there is no apt-get: install these packages' equivalents by hand: ${libraries[*]}"
    install_with_apt
    ;;
*) fail "this system is not known: $(uname -s)" ;;
esac
