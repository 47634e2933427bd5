#!/bin/sh
# Benchmarks the kernels of this repository and compares them with the rows in recorded/.
#   ./bench.sh            exit 0: as fast; 1: slower; 3: missing or incomparable; 4: broken
#   ./bench.sh --record   records the rows of this machine, to be reviewed and committed
# MNKBENCH is a checkout of mnkbench or its npm package, SUITE a suite file of yours.
set -eu
cd "$(dirname "$0")"
: "${MNKBENCH:?Set MNKBENCH to a checkout of mnkbench}"
SUITE=${SUITE:-../c-kernel/suite.ts}
# The built-in kernels in the suite are not under test.
KERNEL=${KERNEL:-rows}

# Tasks run where INIT_CWD says; npm and an outer task set it to their own folder.
unset INIT_CWD
mnkbench() {
  if [ -f "$MNKBENCH/bin.mjs" ]; then node "$MNKBENCH/bin.mjs" "$@"
  else ${DENO:-npx -y deno@2.9.6} task --config "$MNKBENCH/deno.json" "$@"
  fi
}

rm -rf new
code=0
mnkbench bench --suite "$SUITE" --kernel "$KERNEL" --fresh --runs 5 --out new || code=$?
# With code 1 a kernel failed and has a row with its status: `diff` judges it.
[ "$code" -le 1 ] || exit "$code"
if [ "${1-}" = --record ]; then
  # A row that fails on both sides would be no change.
  [ "$code" = 0 ] || { echo "Not recorded: a kernel failed" >&2; exit "$code"; }
  rm -rf recorded
  mv new recorded
  echo "Recorded in $PWD/recorded, where new is now: commit it"
  exit 0
fi
mnkbench diff recorded new --threshold "${THRESHOLD:-5}" --format md
