#!/usr/bin/env bash
# Installs the programs that grocerydude is measured against, as far as they are missing.
set -euo pipefail

# Command and Debian package. perf and strace show where the time goes.
readonly tools=(
    borg:borgbackup
    restic:restic
    zip:zip
    unzip:unzip
    7z:p7zip-full
    zstd:zstd
    sqldiff:sqlite3-tools
    strace:strace
    perf:linux-perf
)

warn() { echo "install-peers: warning: $*" >&2; }

missing=()
for tool in "${tools[@]}"; do
    command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
if ! command -v apt-get >/dev/null; then
    warn "no apt-get here: install these yourself, or they are left out: ${missing[*]}"
    exit 0
fi
echo "install-peers: installing ${missing[*]}"
"${as_root[@]}" apt-get update || warn "'apt-get update' failed; going on with the lists that there are"
# One at a time: what cannot be installed is left out of the benchmark, and keeps nothing else out.
for package in "${missing[@]}"; do
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$package" || warn "cannot install '$package'"
done
