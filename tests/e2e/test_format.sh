#!/usr/bin/env bash
# Every C file is as clang-format 14 leaves it (other versions differ).
set -euo pipefail
cd "$DPC_SOURCE"
tool=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q 'version 14\.'; then
    echo "skipped: clang-format 14 is not installed"
    exit 77
fi
printf 'int  x ;\n' | "$tool" --dry-run -Werror >/dev/null 2>&1 && {
    echo "the check does not notice bad format"
    exit 1
}
{ find src cli include tests examples bench -name '*.[ch]' -print0 2>/dev/null || true; } |
    xargs -0 -n 12 -P 2 "$tool" --dry-run -Werror || {
    echo "to fix: clang-format -i FILE"
    exit 1
}
