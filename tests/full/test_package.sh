#!/usr/bin/env bash
# The Debian package: made from the build, installed into a bare root
# (debootstrap), where the tour works and from where it goes without a trace.
# Needs root, for the root's own package manager.
set -euo pipefail
fail() {
    printf '%s\n' "$*"
    exit 1
}
skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "only root may install packages into a bare root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
[ -e "$DPC_BUILD/dpcount" ] || skip "the program is not built"
grep -q '^DPC_SANITIZE:STRING=$' "$DPC_BUILD/CMakeCache.txt" || skip "a build with sanitizers is not packed"

scratch=$(mktemp -d)
bare=$DPC_BUILD/bare
trap 'rm -rf "$scratch"' EXIT
version=$(cat "$DPC_SOURCE/VERSION")

cpack --config "$DPC_BUILD/CPackConfig.cmake" -G DEB -B "$scratch" >"$scratch/log" 2>&1 ||
    fail "cpack failed: $(tail -n 5 "$scratch/log")"
package=$(echo "$scratch"/*.deb)
[ -s "$package" ] || fail "cpack made no package"

# Once for a build folder: it is the slow part.
if [ ! -e "$bare/.whole" ]; then
    rm -rf "$bare"
    debootstrap --variant=minbase bookworm "$bare" >"$scratch/log" 2>&1 ||
        fail "debootstrap failed: $(tail -n 3 "$scratch/log")"
    cp -r /etc/apt/. "$bare/etc/apt/"
    cp /etc/resolv.conf /etc/hosts "$bare/etc/" 2>/dev/null || true
    touch "$bare/.whole"
fi
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ DEBIAN_FRONTEND=noninteractive chroot "$bare" "$@"; }
cp "$package" "$bare/tmp/dpcount.deb"
inside apt-get -q -y update >"$scratch/log" 2>&1 || true
inside apt-get -q -y install --no-install-recommends /tmp/dpcount.deb >"$scratch/log" 2>&1 ||
    fail "apt-get could not install it: $(tail -n 8 "$scratch/log")"

[ "$(inside dpcount --version)" = "dpcount $version" ] || fail "it does not say its version"
for file in /usr/share/man/man1/dpcount.1 /usr/share/doc/dpcount/copyright \
    /usr/include/dpcount.h /usr/share/bash-completion/completions/dpcount /usr/share/zsh/site-functions/_dpcount \
    /usr/lib/systemd/system/dpcount.service /usr/lib/python3/dist-packages/dpcount/__init__.py; do
    ls "$bare$file"* >/dev/null 2>&1 || fail "not installed: $file"
done
ls "$bare"/usr/share/doc/dpcount/docs/*.md >/dev/null 2>&1 || fail "the docs are not installed"
# The tour, as README has it, in a folder of one's own.
inside sh -ec '
    rm -rf /srv/tour
    cp -r /usr/share/doc/dpcount/examples /srv/tour
    cd /srv/tour
    dpcount budget init --ledger demo.ledger --epsilon 10
    dpcount quote --schema schema.sql --policy policy.yaml --epsilon 1 --query-file queries/example16.sql
    dpcount release --db hospital.db --policy policy.yaml --ledger demo.ledger --epsilon 1 --query-file queries/example16.sql
    dpcount budget show --ledger demo.ledger
    rm -rf /srv/tour' >"$scratch/tour" 2>&1 || fail "the tour failed: $(tail -n 8 "$scratch/tour")"
grep -q '^answer' "$scratch/tour" || fail "the tour gave no answer: $(cat "$scratch/tour")"

inside apt-get -q -y purge dpcount >"$scratch/log" 2>&1 || fail "it could not be removed"
inside apt-get -q -y autoremove --purge >"$scratch/log" 2>&1 || true
left=$(find "$bare/usr" "$bare/etc" "$bare/var/lib" -xdev -name '*dpcount*' -not -path '*/dpkg/*' -not -path '*/apt/*')
[ -z "$left" ] || fail "left behind: $left"
