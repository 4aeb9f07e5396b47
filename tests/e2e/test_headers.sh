#!/usr/bin/env bash
# Every header compiles on its own, so that the order of includes never
# matters; the public one also as C99 and as C++, since it is for everyone.
set -euo pipefail
cd "$DPC_SOURCE"
flags=(-fsyntax-only -Wall -Wextra -Werror -D_GNU_SOURCE -Isrc -Iinclude)
alone() { # HEADER
    printf '#include "%s"\n' "$1" | cc -std=c17 "${flags[@]}" -x c - || {
        echo "$1 does not compile on its own"
        return 1
    }
}

bad=0
for header in $(cd src && ls -d ./*/*.h); do
    alone "${header#./}" || bad=1
done
use='#include <dpcount.h>\n#include <dpcount.h>\nint main(void);\n'
printf "$use" | cc -std=c99 -pedantic -Wstrict-prototypes "${flags[@]}" -x c - || bad=1
if command -v c++ >/dev/null 2>&1; then
    printf "$use" | c++ -std=c++11 -pedantic "${flags[@]}" -x c++ - || bad=1
else
    echo "c++ is not installed: dpcount.h was not tried as C++"
fi

# The example in the header is the one that is run.
cut() { sed -n '/example: begin/,/example: end/p' tests/unit/test_header_example.c | sed '1d;$d;s/^    //'; }
shown() { sed -n '/^ \*     dpc_dataset \*d = NULL;/,/dpc_dataset_free(d);/s/^ \*     //p' include/dpcount.h; }
diff <(cut) <(shown) || {
    echo "the example in dpcount.h is not the one of test_header_example.c"
    bad=1
}
# So is the version.
version=$(sed -n 's/#define DPC_VERSION_[A-Z]* //p' include/dpcount.h | paste -sd.)
[ "$version" = "$(cat VERSION)" ] || {
    echo "dpcount.h has version $version"
    bad=1
}

# The check can fail.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/broken"
echo 'struct s { size_t n; };' >"$scratch/broken/broken.h"
flags+=("-I$scratch")
if alone broken/broken.h >/dev/null 2>&1; then
    echo "the check does not notice a header that lacks an include"
    bad=1
fi
exit "$bad"
