#!/usr/bin/env bash
# The order of the modules holds: no #include and no symbol goes against
# src/LAYERS, and program and examples know nothing but <dpcount.h>.
#
# The include check alone would miss a function that is declared by hand, the
# symbol check alone a macro or a type; so both. Each is first run on broken
# copies, since a check that cannot fail says nothing.
set -euo pipefail
src=$DPC_SOURCE
build=$DPC_BUILD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The file itself: each module once, naming only modules above it; every
# folder of src/ is in it.
check_file() { # SRC
    awk '
        /^#/ || NF == 0 { next }
        {
            sub(/:$/, "", $1)
            if ($1 in seen) { print "LAYERS: " $1 " stands twice"; bad = 1 }
            for (i = 2; i <= NF; i++)
                if (!($i in seen)) {
                    print "LAYERS: " $1 " names " $i ", which is not above it"
                    bad = 1
                }
            seen[$1] = 1
        }
        END { exit bad }' "$1/LAYERS" || return 1
    local folder
    for folder in "$1"/*/; do
        folder=$(basename "$folder")
        grep -q "^$folder:" "$1/LAYERS" || {
            echo "LAYERS: src/$folder is missing"
            return 1
        }
    done
}

check_includes() { # SRC
    (cd "$1" && grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' \
        --include='*.c' --include='*.h' --include='*.def' -r .) |
        awk -v layers="$1/LAYERS" '
        BEGIN {
            while ((getline line < layers) > 0) {
                if (line ~ /^#/ || line !~ /:/) continue
                n = split(line, w, /[: ]+/)
                for (i = 1; i <= n; i++) may[w[1], w[i]] = 1
            }
        }
        {
            split($0, part, ":"); file = substr(part[1], 3)
            match($0, /"[^"]*"/); target = substr($0, RSTART + 1, RLENGTH - 2)
            from = file; sub(/\/.*/, "", from)
            to = target
            if (target == "dpcount.h" && from == "api") next
            if (!sub(/\/.*/, "", to)) {
                print file ": \"" target "\" must be written with its module"
                bad = 1
            } else if (!((from, to) in may)) {
                print file ": " from " may not include " target
                bad = 1
            }
        }
        END { exit bad }'
}

check_symbols() { # LAYERS FOLDER-of-dpc_<module>.dir
    local module
    for module in $(sed -n 's/^\([a-z]*\):.*/\1/p' "$1"); do
        [ -d "$2/dpc_$module.dir" ] || continue
        find "$2/dpc_$module.dir" -name '*.o' -print0 |
            xargs -0 -r nm -P -g |
            awk -v m="$module" 'NF >= 2 { print m, $2, $1 }'
    done | awk -v layers="$1" '
        BEGIN {
            while ((getline line < layers) > 0) {
                if (line ~ /^#/ || line !~ /:/) continue
                n = split(line, w, /[: ]+/)
                for (i = 1; i <= n; i++) may[w[1], w[i]] = 1
            }
        }
        $2 == "U" || $2 == "w" { takes[$1, $3] = 1; next }
        $2 != "V" && $2 != "W" { owner[$3] = $1; symbols++ }
        END {
            for (k in takes) {
                split(k, p, SUBSEP)
                if ((p[2] in owner) && !((p[1], owner[p[2]]) in may)) {
                    print p[1] " may not use " p[2] " of " owner[p[2]]
                    bad = 1
                }
            }
            if (!symbols) { print "no symbols found"; bad = 1 }
            exit bad
        }'
}

# Anything that stands outside the library sees only the public header.
check_users() { # SOURCE
    local found
    found=$(cd "$1" && find cli examples ext console -name '*.[ch]' \
        2>/dev/null | xargs -r grep -nE '#[[:space:]]*include[[:space:]]*"' |
        grep -vE '"(cli/)?[a-z_]+\.h"' || true)
    found+=$(cd "$1" && for m in $(sed -n 's/^\([a-z]*\):.*/\1/p' src/LAYERS); do
        find cli examples ext console -name '*.[ch]' 2>/dev/null |
            xargs -r grep -nE "#[[:space:]]*include[[:space:]]*[\"<](\.\./)*(src/)?$m/" || true
    done)
    [ -z "$found" ] || {
        printf '%s\nonly <dpcount.h> may be included here\n' "$found"
        return 1
    }
}

must_fail() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@" >"$scratch/out" 2>&1; then
        echo "the check does not notice $what"
        exit 1
    fi
}

broken() { # a fresh copy of the sources to break
    rm -rf "$scratch/copy"
    mkdir "$scratch/copy"
    cp -r "$src/src" "$src/cli" "$scratch/copy/"
}
broken
echo '#include "noise/noise.h"' >>"$scratch/copy/src/cq/cq.h"
must_fail "an include against the order" check_includes "$scratch/copy/src"
broken
echo '#include "err.h"' >>"$scratch/copy/src/base/mem.c"
must_fail "an include without module" check_includes "$scratch/copy/src"
broken
sed -i 's/^num:.*/num: base sens/' "$scratch/copy/src/LAYERS"
must_fail "a cycle in LAYERS" check_file "$scratch/copy/src"
broken
mkdir "$scratch/copy/src/stray"
must_fail "a folder outside LAYERS" check_file "$scratch/copy/src"
broken
echo '#include "base/mem.h"' >>"$scratch/copy/cli/stray.c"
must_fail "a program that looks inside" check_users "$scratch/copy"

mkdir -p "$scratch/o/dpc_base.dir" "$scratch/o/dpc_noise.dir"
echo 'void noise_x(void); void base_x(void); void base_x(void) { noise_x(); }' |
    cc -x c -c - -o "$scratch/o/dpc_base.dir/x.o"
echo 'void noise_x(void); void noise_x(void) {}' |
    cc -x c -c - -o "$scratch/o/dpc_noise.dir/x.o"
must_fail "a symbol against the order" check_symbols "$src/src/LAYERS" "$scratch/o"

check_file "$src/src"
check_includes "$src/src"
check_users "$src"
check_symbols "$src/src/LAYERS" "$build/src/CMakeFiles"
echo "the order holds"
