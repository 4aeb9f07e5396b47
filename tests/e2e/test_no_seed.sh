#!/usr/bin/env bash
# The shipped library and program have one source of randomness, the kernel:
# no seed, no scripted bytes, no generator of the C library.
set -euo pipefail
library=$DPC_BUILD/src/libdpcount.so
objects=$DPC_BUILD/src/CMakeFiles/dpc_noise.dir/noise

names() { nm -a -P "$@" | awk '{ print $1 }'; }
texts() { for file in "$@"; do strings -a "$file"; done; }
fail() {
    printf '%s\n' "$1"
    exit 1
}

shipped=("$library")
[ ! -x "$DPC_BUILD/dpcount" ] || shipped+=("$DPC_BUILD/dpcount")
for file in "${shipped[@]}"; do
    if names "$file" | grep -iE 'seed|scripted|xoshiro'; then
        fail "a symbol of $file names a seed or a scripted source"
    fi
    # "setseed" and the like are words of PostgreSQL's grammar
    if texts "$file" | grep -iE -- '--seed|dpc_?seed|scripted|xoshiro'; then
        fail "a text of $file offers a seed"
    fi
    if names "$file" | grep -xE '(s?rand(om)?|[dlm]rand48|rand_r|random_r)(@.*)?'; then
        fail "$file uses a generator of the C library"
    fi
done
ls "$objects"/*.o >/dev/null
if texts "$objects"/*.o | grep -iE 'seed'; then
    fail "the noise module mentions a seed"
fi
nm -D --undefined-only "$library" | grep getrandom >/dev/null ||
    fail "the library does not take its bytes from getrandom"

# The check can fail: the tests' own source has what must not be there.
harness=$DPC_BUILD/tests/libharness.a
nm -a -P "$harness" 2>/dev/null | awk '{ print $1 }' | grep -i scripted_seed >/dev/null ||
    fail "the check does not notice a seed"
