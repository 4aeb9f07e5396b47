#!/usr/bin/env bash
# `cmake --install` gives a tree that works on its own: program, library with
# soname, header, pkg-config file, manual; and every program in examples/c
# compiles against it with what pkg-config says, warning-free, and runs.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(cat "$DPC_SOURCE/VERSION")
fail() {
    printf '%s\n' "$*"
    exit 1
}
cached() { sed -n "s/^$1:[A-Z]*=//p" "$DPC_BUILD/CMakeCache.txt"; }

cmake --install "$DPC_BUILD" --prefix "$scratch/first" >"$scratch/log" 2>&1 ||
    fail "$(tail -n 5 "$scratch/log")"
# Moving it must not matter.
mv "$scratch/first" "$scratch/moved"
tree=$scratch/moved
lib=$tree/$(cached CMAKE_INSTALL_LIBDIR)
[ -d "$lib" ] || lib=$tree/lib

for file in "$tree/include/dpcount.h" "$lib/libdpcount.so" \
    "$lib/libdpcount.so.${version%.*}" "$lib/libdpcount.so.$version" \
    "$lib/pkgconfig/dpcount.pc"; do
    [ -e "$file" ] || fail "not installed: ${file#"$tree"/}"
done
[ -z "$(find "$tree" -name '*.a')" ] || fail "a static library was installed"
if [ -e "$DPC_BUILD/dpcount" ]; then
    [ "$(env -u LD_LIBRARY_PATH "$tree/bin/dpcount" --version)" = "dpcount $version" ] ||
        fail "the installed program does not say its version"
    [ -s "$tree/share/man/man1/dpcount.1" ] || fail "the manual is not installed"
fi

export PKG_CONFIG_PATH=$lib/pkgconfig
[ "$(pkg-config --modversion dpcount)" = "$version" ] || fail "pkg-config: wrong version"
sanitize=$(cached DPC_SANITIZE)
for program in "$DPC_SOURCE"/examples/c/*.c; do
    name=$(basename "$program" .c)
    # shellcheck disable=SC2046
    cc -std=c99 -pedantic -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror \
        ${sanitize:+-fsanitize=$sanitize} "$program" \
        $(pkg-config --cflags --libs dpcount) "-Wl,-rpath,$lib" -o "$scratch/$name" ||
        fail "examples/c/$name.c does not compile against the installed tree"
    # An example gets a scratch folder and the example database, if it wants.
    (cd "$scratch" && DPC_EXAMPLES=$DPC_BUILD/examples "./$name" >"$name.out" 2>&1) ||
        fail "examples/c/$name.c failed: $(cat "$scratch/$name.out")"
    [ -s "$scratch/$name.out" ] || fail "examples/c/$name.c printed nothing"
done
[ "$(cat "$scratch/version.out")" = "$version" ] || fail "examples/c/version.c: wrong version"
