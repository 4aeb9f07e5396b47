#!/usr/bin/env bash
# tools/setup without touching the machine: dpkg-query, apt-get, sudo and id
# are played by scripts. Silent when all is there; says what it installs; tells
# reason and fix when it cannot.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
export SCRATCH=$scratch
fail() {
    printf '%s\n' "$*"
    exit 1
}
play() { # NAME: the script on standard input
    { echo '#!/bin/bash' && cat; } >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
# Installed is what stands in $SCRATCH/installed; "p gives q" stands for a
# package p that provides q.
play dpkg-query <<'S'
while read -r p gives rest; do
    echo "installed, $p, $rest"
done <"$SCRATCH/installed"
echo "config-files, gcc, cmake (= 3)"
S
play apt-get <<'S'
echo "apt-get $*" >>"$SCRATCH/calls"
case "$*" in
*update*) [ ! -e "$SCRATCH/offline" ] || echo "W: Failed to fetch the lists" ;;
*install*)
    [ ! -e "$SCRATCH/offline" ] || { echo "E: Unable to locate package"; exit 100; }
    for p in "$@"; do echo "$p"; done >>"$SCRATCH/installed" ;;
esac
S
play id <<'S'
cat "$SCRATCH/uid"
S
all=$(sed 's/#.*//' "$DPC_SOURCE/tools/packages" | awk '$1 == "build" { print $2 }')
[ "$(wc -w <<<"$all")" -gt 10 ] || fail "the list of packages is short"

setup() { # runs it; sets status, out, calls
    : >"$scratch/calls"
    status=0
    out=$(PATH=$scratch/bin:$path "$DPC_SOURCE/tools/setup" build 2>&1) || status=$?
    calls=$(cat "$scratch/calls")
}
start() { # UID: everything installed but gcc and cmake
    grep -vxE 'gcc|cmake' <<<"$all" >"$scratch/installed"
    echo "$1" >"$scratch/uid"
    rm -f "$scratch/offline" "$scratch/bin/sudo"
}
# Only what the script needs, so that no real sudo is found.
mkdir "$scratch/tools"
for tool in bash env cat grep mktemp rm tail dirname; do
    ln -s "$(command -v "$tool")" "$scratch/tools/$tool"
done
path=$scratch/tools

start 0
echo "$all" >"$scratch/installed"
setup
[ "$status" = 0 ] && [ -z "$out" ] && [ -z "$calls" ] ||
    fail "not silent when all is there: $status, $out, $calls"

start 0
echo "toolchain gives gcc (= 12.2), cmake" >>"$scratch/installed"
setup
[ "$status" = 0 ] && [ -z "$out$calls" ] || fail "installs what is provided: $out"

start 0
setup
[ "$status" = 0 ] || fail "could not install: $out"
[[ $out == *gcc*cmake* && $out != *ninja* ]] || fail "does not say what it installs: $out"
[[ $calls == *update*install*gcc*cmake* ]] || fail "wrong calls: $calls"
setup
[ -z "$out$calls" ] || fail "not idempotent: $out $calls"

start 0
touch "$scratch/offline"
setup
[ "$status" = 1 ] && [[ $out == *"Failed to fetch"*"Check the network"*"apt-get install"* ]] ||
    fail "offline: $status, $out"

start 1000
setup
[ "$status" = 1 ] && [[ $out == *"Run as root:"*gcc* && -z $calls ]] ||
    fail "without root and sudo: $status, $out, $calls"
play sudo <<'S'
"$@"
S
setup
[ "$status" = 0 ] && [[ $calls == *install* ]] || fail "with sudo: $status, $out, $calls"

start 0
status=0
out=$(PATH=$scratch/bin:$path DPC_NO_INSTALL=1 "$DPC_SOURCE/tools/setup" build 2>&1) || status=$?
[ "$status" = 1 ] && [[ $out == *missing*gcc* ]] || fail "DPC_NO_INSTALL: $status, $out"
echo "as it should"
