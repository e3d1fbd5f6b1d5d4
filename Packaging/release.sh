#!/usr/bin/env bash
# Makes a release: release.sh VERSION
#
# All happens in a new clone: version, changelogs, lint, tests, packages, their trial, checksums and their signature. Only if
# all of it passed, this checkout gets the commit and the tag, and .build/release-VERSION the packages. Nothing is pushed.
#
# SIGNING_KEY=FILE, or else git's own key if git signs with ssh, signs the checksums. Its public half is in Packaging/signers,
# by which a user verifies them; the first release that is signed writes that file.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "release: error: $*" >&2
    exit 1
}
readonly version=${1-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "not a version such as 1.2.3: '$version': make release VERSION=1.2.3"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed: git status"
git rev-parse -q --verify "refs/tags/v$version" >/dev/null && fail "there is a v$version already: git tag -d v$version"
grep -q '^## \[[0-9.]*\] - unreleased$' CHANGELOG.md || fail "CHANGELOG.md has no section '[…] - unreleased'"
maintainer=$(git config user.name) || fail "git does not know you: git config user.name 'YOUR NAME'"
email=$(git config user.email) || fail "git does not know you: git config user.email YOU@EXAMPLE.ORG"

# The public half of a key, as a line of Packaging/signers.
signer() {
    local public
    case "$1" in
    *.pub) public=$(cat "$1") ;;
    *) public=$(cat "$1.pub" 2>/dev/null || ssh-keygen -y -f "$1") ;;
    esac
    echo "releases namespaces=\"grocerydude-release\" $(cut -d' ' -f1,2 <<<"$public")"
}
signing_key=${SIGNING_KEY:-}
if [ -z "$signing_key" ] && [ "$(git config gpg.format)" = ssh ]; then
    signing_key=$(git config --type=path user.signingkey || true)
fi
if [ -n "$signing_key" ]; then
    [ -f "$signing_key" ] || fail "there is no key '$signing_key': ssh-keygen -t ed25519 -f FILE"
    signing_key=$(realpath "$signing_key")
    export SIGNING_KEY=$signing_key
    signer=$(signer "$signing_key")
    if [ -e Packaging/signers ]; then
        grep -qxF "$signer" Packaging/signers ||
            fail "Packaging/signers does not have the key '$signing_key': add it in a commit of its own, so that users see it"
    fi
else
    echo "release: warning: not signed: SIGNING_KEY=FILE names a key of ssh-keygen" >&2
fi

readonly result=$PWD/.build/release-$version
work=$(mktemp -d "${TMPDIR:-/tmp}/grocerydude-release.XXXXXX")
clean_up() {
    local status=$?
    rm -rf --one-file-system "$work"
    [ "$status" = 0 ] || echo "release: nothing is released, and this checkout is as it was" >&2
}
trap clean_up EXIT
git clone -q . "$work/clone"
(
    cd "$work/clone"
    git config user.name "$maintainer" && git config user.email "$email"
    sed -i "s/static let version = \".*\"/static let version = \"$version\"/" Sources/grocerydude/Invocation/Invocation.swift
    sed -i "s/^## \[[0-9.]*\] - unreleased$/## [$version] - $(date +%F)/" CHANGELOG.md
    if ! head -1 Packaging/debian/changelog | grep -qF "($version-1)"; then
        printf 'grocerydude (%s-1) unstable; urgency=medium\n\n  * CHANGELOG.md has the details.\n\n -- %s <%s>  %s\n\n' \
            "$version" "$maintainer" "$email" "$(date -R)" | cat - Packaging/debian/changelog >"$work/changelog"
        cp "$work/changelog" Packaging/debian/changelog
    fi
    if [ -n "$signing_key" ] && [ ! -e Packaging/signers ]; then
        echo "$signer" >Packaging/signers
        git add Packaging/signers
    fi
    git commit -q -a -m "Release $version"
    for step in lint test test-packages; do make "$step"; done
    cd .build/packages
    sha256sum ./*.deb ./*.tar.gz >SHA256SUMS
    if [ -n "$signing_key" ]; then
        ssh-keygen -q -Y sign -f "$signing_key" -n grocerydude-release SHA256SUMS
        cp ../../Packaging/signers .
        ssh-keygen -Y verify -f signers -I releases -n grocerydude-release -s SHA256SUMS.sig <SHA256SUMS
    fi
)

mkdir -p .build
rm -rf "$result"
cp -R "$work/clone/.build/packages" "$result"
git pull -q --ff-only "$work/clone" HEAD
git tag -a "v$version" -m "grocerydude $version"
ls -l "$result"
echo "released $version: to publish it: git push origin HEAD v$version"
