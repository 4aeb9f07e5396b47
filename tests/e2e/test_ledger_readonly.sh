#!/bin/bash
# A ledger that cannot be written: a clear error, exit status 5, nothing drawn
# and nothing charged, whether the file, its folder or both are read-only. The
# superuser writes everything, so the program runs as nobody then.
set -e
fail() { echo "$*"; exit 1; }
as=
if [ "$(id -u)" = 0 ]; then
  as="setpriv --reuid=nobody --clear-groups"
  $as true 2>/dev/null || { echo "skipped: cannot become nobody"; exit 77; }
fi
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
chmod 755 "$dir"
cp "$DPC_BUILD/dpcount" "$dir" # the build may lie where nobody cannot look
lib=$(ldd "$DPC_BUILD/dpcount" | awk '/libdpcount/ {print $3}')
if [ -n "$lib" ]; then
  cp "$lib" "$dir"
  export LD_LIBRARY_PATH=$dir:$LD_LIBRARY_PATH
fi
cd "$dir"
printf '1 2\n2 3\n' > E
$as ./dpcount --version > /dev/null 2>&1 || { echo "skipped: nobody cannot run the program"; exit 77; }

ask() { # ask FOLDER: exit status, output in $dir/out
  local status=0
  $as ./dpcount release --fresh --format json --ledger "$1/l" --epsilon 1 --table 'E(a,b)=E' 'Q(x,y) :- E(x,y).' > out 2> err ||
    status=$?
  echo $status
}
charges() { ./dpcount budget show --format json --ledger "$1/l" | grep -o '"committed": [0-9]*, "held": [0-9]*'; }

for case in file folder both; do
  mkdir $case
  ./dpcount budget init --ledger $case/l --epsilon 5 > /dev/null
  [ -z "$as" ] || chown -R nobody $case
  [ "$(ask $case)" = 0 ] || fail "$case: writable, yet $(cat out err)"
  [ $case = folder ] || chmod 0444 $case/l
  [ $case = file ] || chmod 0555 $case
  status=$(ask $case)
  [ "$status" = 5 ] || fail "$case: exit status $status: $(cat out err)"
  grep -q '"code": "ledger' out || fail "$case: $(cat out)"
  grep -q 'must be writable' out || fail "$case: no hint: $(cat out)"
  grep -q '"answer"' out && fail "$case: an answer: $(cat out)"
  chmod 0755 $case
  chmod 0644 $case/l
  [ "$(charges $case)" = '"committed": 1, "held": 0' ] || fail "$case: $(charges $case) charges"
  [ "$(ask $case)" = 0 ] || fail "$case: not well again: $(cat out err)"
done
