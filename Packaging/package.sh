#!/usr/bin/env bash
# Makes a package of the program: package.sh deb|dist PROGRAM SHARE OUTPUT-DIRECTORY
#
# PROGRAM is what 'make deb' or 'make dist' has linked for it, SHARE the manual pages and completions.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p "$4"
kind=$1 program=$(realpath "$2") share=$(realpath "$3") output=$(realpath "$4")
version=$(sed -n 's/.*static let version = "\(.*\)"/\1/p' Sources/grocerydude/Invocation/Invocation.swift)
architecture=$(dpkg --print-architecture 2>/dev/null || uname -m)
# All times in a package are that of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

# Debian's tools want 'debian' in a tree of its own; the version and date of its changelog are those of the release.
package_deb() {
    local tree=$stage/grocerydude-$version
    mkdir "$tree"
    cp -R Packaging/debian "$tree/debian"
    cp -R README.md NOTICE SECURITY.md CHANGELOG.md Documentation Packaging/grafana "$tree"
    mkdir "$tree/built"
    cp "$program" "$tree/built/grocerydude"
    cp -R "$share" "$tree/built/share"
    cp -R Packaging/systemd "$tree/built/systemd"
    (cd "$tree" && dpkg-buildpackage -b -us -uc -d)
    rm -f "$output"/*.deb
    cp "$stage/grocerydude_${version}-"*"_$architecture.deb" "$output"
    if command -v lintian >/dev/null; then
        lintian --fail-on error,warning --allow-root "$stage"/*.changes
    else
        echo "package: warning: there is no lintian: the package was not checked" >&2
    fi
}

package_dist() {
    local name tree
    name=grocerydude-$version-linux-$(uname -m)
    tree=$stage/$name
    mkdir -p "$tree"
    install -m 755 "$program" "$tree/grocerydude"
    strip "$tree/grocerydude"
    cp -R "$share/man1" "$share/completions" README.md LICENSE NOTICE CHANGELOG.md Documentation \
        Packaging/grafana "$tree"
    # By these users verify the next release.
    if [ -e Packaging/signers ]; then cp Packaging/signers "$tree"; fi
    chmod -R u=rwX,go=rX "$tree"
    rm -f "$output"/*.tar.gz*
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime -C "$stage" -c "$name" |
        gzip -n9 >"$output/$name.tar.gz"
    (cd "$output" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
    # The key is nowhere in the project: SIGNING_KEY=FILE make dist
    if [ -n "${SIGNING_KEY:-}" ]; then
        rm -f "$output/$name.tar.gz.sig"
        ssh-keygen -q -Y sign -f "$SIGNING_KEY" -n grocerydude-release "$output/$name.tar.gz"
    else
        echo "package: not signed: SIGNING_KEY=FILE names a key of ssh-keygen" >&2
    fi
}

case "$kind" in
deb) package_deb ;;
dist) package_dist ;;
*)
    echo "package: error: neither deb nor dist: $kind" >&2
    exit 2
    ;;
esac
ls -l "$output"
