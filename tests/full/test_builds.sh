#!/usr/bin/env bash
# The other ways to build: with clang, as a static and as a shared library,
# warnings as errors. An example linked with the installed static library, by
# what pkg-config says, and both programs work.
set -euo pipefail
fail() {
    printf '%s\n' "$*"
    exit 1
}
command -v clang >/dev/null || {
    echo "skipped: clang is not installed"
    exit 77
}
grep -q '^DPC_SANITIZE:STRING=$' "$DPC_BUILD/CMakeCache.txt" || {
    echo "skipped: once is enough, and this build has sanitizers"
    exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(cat "$DPC_SOURCE/VERSION")
log=$scratch/log

build() { # ON|OFF: shared or static
    cmake -S "$DPC_SOURCE" -B "$scratch/build" -G Ninja -DCMAKE_C_COMPILER=clang \
        -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DDPC_WERROR=ON \
        -DBUILD_SHARED_LIBS="$1" -DCMAKE_INSTALL_LIBDIR=lib >"$log" 2>&1 ||
        fail "clang, shared $1, configure: $(tail -n 5 "$log")"
    cmake --build "$scratch/build" >"$log" 2>&1 ||
        fail "clang, shared $1: $(grep -E -A 3 'error:|warning:' "$log" | head -n 20)"
    cmake --install "$scratch/build" --prefix "$scratch/$1" >"$log" 2>&1 ||
        fail "clang, shared $1, install: $(tail -n 5 "$log")"
    [ "$(env -u LD_LIBRARY_PATH "$scratch/$1/bin/dpcount" --version)" = "dpcount $version" ] ||
        fail "clang, shared $1: the program does not say its version"
}

build OFF
[ -e "$scratch/OFF/lib/libdpcount.a" ] || fail "no static library was installed"
[ ! -e "$scratch/OFF/lib/libdpcount.so" ] || fail "a shared library was installed"
# shellcheck disable=SC2046
PKG_CONFIG_PATH=$scratch/OFF/lib/pkgconfig clang -std=c99 "$DPC_SOURCE/examples/c/version.c" \
    $(PKG_CONFIG_PATH=$scratch/OFF/lib/pkgconfig pkg-config --static --cflags --libs dpcount) \
    -o "$scratch/version" 2>"$log" || fail "the static library does not link: $(tail -n 5 "$log")"
[ "$("$scratch/version")" = "$version" ] || fail "the linked example does not say its version"

build ON
[ -e "$scratch/ON/lib/libdpcount.so.${version%.*}" ] || fail "no shared library was installed"
