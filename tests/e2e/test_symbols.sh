#!/usr/bin/env bash
# The shared library exports dpc_* and nothing else: libpg_query inside it
# defines names such as palloc that would clash with a host's own.
set -euo pipefail
library=$DPC_BUILD/src/libdpcount.so
exported() { # LIBRARY
    nm -D --defined-only -P "$1" | awk '{ print $1 }'
}
# Sanitizers and coverage counters put names of their own into what they build.
foreign() {
    exported "$1" | grep -vE '^(dpc_|__asan|__ubsan|__odr_asan|__gcov|mangle_path|__sanitizer)' || true
}

found=$(foreign "$library")
[ -z "$found" ] || {
    printf 'exported without the prefix dpc_:\n%s\n' "$found"
    exit 1
}
exported "$library" | grep -qx dpc_version || {
    echo "dpc_version is not exported"
    exit 1
}
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = "libdpcount.so.$(cut -d. -f1,2 "$DPC_SOURCE/VERSION")" ] || {
    echo "soname is \"$soname\""
    exit 1
}

# The check can fail.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo 'void palloc(void); void palloc(void) {}' |
    cc -x c -shared -fPIC - -o "$scratch/lib.so"
foreign "$scratch/lib.so" | grep -qx palloc || {
    echo "the check does not notice a foreign name"
    exit 1
}

# What only some commands need is found when they need it: loading it takes as
# much processor time as a release. (Sanitizers do not matter here.)
heavy=$(readelf -d "$library" "$DPC_BUILD/dpcount" 2>/dev/null |
    grep -E 'NEEDED.*(libpq|libmicrohttpd|libgnutls|libedit|libduckdb)' || true)
[ -z "$heavy" ] || {
    printf 'every command would load:\n%s\n' "$heavy"
    exit 1
}
