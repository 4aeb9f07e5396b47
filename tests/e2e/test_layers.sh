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
# folder of src/ is in it, and every room of a module.
check_file() { # SRC
    awk '
        /^#/ || NF == 0 { next }
        {
            sub(/:$/, "", $1)
            above = ""
            if (split($1, part, "/") == 2) above = part[1] "/"
            if ($1 in seen) { print "LAYERS: " $1 " stands twice"; bad = 1 }
            if (above && !(part[1] in seen)) {
                print "LAYERS: " $1 " stands before its module"; bad = 1
            }
            for (i = 2; i <= NF; i++)
                if (!((above $i) in seen)) {
                    print "LAYERS: " $1 " names " $i ", which is not above it"
                    bad = 1
                }
            seen[$1] = 1
        }
        END { exit bad }' "$1/LAYERS" || return 1
    local folder
    for folder in "$1"/*/ "$1"/*/*/; do
        [ -d "$folder" ] || continue
        folder=${folder#"$1"/}
        folder=${folder%/}
        grep -q "^$folder:" "$1/LAYERS" || {
            echo "LAYERS: src/$folder is missing"
            return 1
        }
    done
}

# may[from, to]: between modules, and between the rooms of one. The folder of
# the module itself is the room "", which may use all rooms; the headers in it
# are everybody's, its symbols nobody's.
read_layers='
    BEGIN {
        while ((getline line < layers) > 0) {
            if (line ~ /^#/ || line !~ /:/) continue
            n = split(line, w, /[: ]+/)
            if (split(w[1], part, "/") == 2) {
                may[part[1] "/", w[1]] = may[w[1], w[1]] = 1
                for (i = 2; i <= n; i++) may[w[1], part[1] "/" w[i]] = 1
            } else {
                for (i = 1; i <= n; i++) may[w[1], w[i]] = 1
                may[w[1] "/", w[1] "/"] = 1
            }
        }
    }
    function module_of(path) { sub(/\/.*/, "", path); return path }
    function room_of(path) { # "join/" of join/join.c, "join/walk" of join/walk/walk.c
        if (split(path, part, "/") == 3) return part[1] "/" part[2]
        return part[1] "/"
    }'

check_includes() { # SRC
    (cd "$1" && grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' \
        --include='*.c' --include='*.h' --include='*.def' -r .) |
        awk -v layers="$1/LAYERS" "$read_layers"'
        {
            split($0, part, ":"); file = substr(part[1], 3)
            match($0, /"[^"]*"/); target = substr($0, RSTART + 1, RLENGTH - 2)
            from = module_of(file); to = module_of(target)
            if (target == "dpcount.h" && from == "api") next
            if (target !~ /\//) {
                print file ": \"" target "\" must be written with its module"
                bad = 1
            } else if (!((from, to) in may)) {
                print file ": " from " may not include " target
                bad = 1
            } else if (from == to && room_of(target) != from "/" &&
                       !((room_of(file), room_of(target)) in may)) {
                print file ": " room_of(file) " may not include " target
                bad = 1
            }
        }
        END { exit bad }'
}

check_symbols() { # LAYERS FOLDER-of-dpc_<module>.dir
    local module
    for module in $(sed -n 's/^\([a-z]*\):.*/\1/p' "$1"); do
        [ -d "$2/dpc_$module.dir" ] || continue
        # not the objects that a build folder keeps of files that moved
        (cd "$2/dpc_$module.dir" && find "$module" -name '*.o' | while read -r o; do
            [ "$o" = "${o%.c.o}" ] || [ -e "$(dirname "$1")/${o%.o}" ] || continue
            echo "$o"
        done | xargs -r nm -P -g -A |
            sed 's/: / /' | awk 'NF >= 3 { print $1, $3, $2 }')
    done | awk -v layers="$1" "$read_layers"'
        $2 == "U" || $2 == "w" { takes[room_of($1), $3] = 1; next }
        $2 != "V" && $2 != "W" { owner[$3] = room_of($1); symbols++ }
        END {
            for (k in takes) {
                split(k, p, SUBSEP)
                if (!(p[2] in owner)) continue
                from = p[1]; to = owner[p[2]]
                if (module_of(from) != module_of(to)) {
                    from = module_of(from); to = module_of(to)
                }
                if (!((from, to) in may)) {
                    print from " may not use " p[2] " of " to
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
        grep -vE '"(cli/|serve/)?[a-z_]+\.h"' || true)
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
echo '#include "join/message/message.h"' >>"$scratch/copy/src/join/walk/walk.h"
must_fail "an include against the order of rooms" \
    check_includes "$scratch/copy/src"
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
mkdir "$scratch/copy/src/join/stray"
must_fail "a room outside LAYERS" check_file "$scratch/copy/src"
broken
sed -i 's|^join/scratch:.*|join/scratch: encode|' "$scratch/copy/src/LAYERS"
must_fail "a cycle of rooms" check_file "$scratch/copy/src"
broken
echo '#include "base/mem.h"' >>"$scratch/copy/cli/stray.c"
must_fail "a program that looks inside" check_users "$scratch/copy"

compile() { # MODULE/[ROOM/]FILE.o, text on stdin
    local to="$scratch/o/dpc_${1%%/*}.dir/$1"
    mkdir -p "$(dirname "$to")"
    cc -x c -c - -o "$to"
}
echo 'void noise_x(void); void base_x(void); void base_x(void) { noise_x(); }' |
    compile base/x.o
echo 'void noise_x(void); void noise_x(void) {}' |
    compile noise/x.o
must_fail "a symbol against the order" check_symbols "$src/src/LAYERS" "$scratch/o"
for taken in join join/graph; do # by join/encode
    rm -rf "$scratch/o"
    echo 'void g(void); void e(void); void e(void) { g(); }' |
        compile join/encode/x.o
    echo 'void g(void); void g(void) {}' | compile "$taken/x.o"
    must_fail "a symbol of $taken that a room takes" \
        check_symbols "$src/src/LAYERS" "$scratch/o"
done
rm -rf "$scratch/o"
echo 'void e(void); void g(void); void g(void) { e(); }' |
    compile join/graph/x.o
echo 'void e(void); void e(void) {}' | compile join/encode/x.o
check_symbols "$src/src/LAYERS" "$scratch/o" # a room that is named

check_file "$src/src"
check_includes "$src/src"
check_users "$src"
check_symbols "$src/src/LAYERS" "$build/src/CMakeFiles"
echo "the order holds"
