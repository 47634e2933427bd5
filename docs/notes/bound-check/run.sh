#!/bin/sh
# Counts rows that are faster than the bound (sol_us), by timer and suite, on the GPU of this
# machine: a few shapes of each suite, and all shapes of the kernels that were above an earlier
# bound (dot, and cublas at M = 2048). Asked: none.
#
# Usage, from anywhere: docs/notes/bound-check/run.sh OUT [TIMER...]
# About 3 minutes a timer on an H200. "Took ... (spent: ... calibrate S ...)" has the time of the
# calibrations, which must be at most about twice that of the version before.
set -u
root=$(cd "$(dirname "$0")/../../.." && pwd)
out=${1:?usage: run.sh OUT [TIMER...]}
mkdir -p "$out" && out=$(cd "$out" && pwd)
shift
[ $# -gt 0 ] || set -- do_bench graph batch:16 chain:32 chain:32:pdl
cd "$root" || exit 1

bench() { # TIMER FOLDER OPTION...
  timer=$1 folder=$out/$2
  shift 2
  deno run --allow-read --allow-write --allow-ffi --allow-run --allow-env --allow-sys \
    cli/main.ts bench --timer "$timer" --out "$folder" --warmup 5 --rep 20 --level 2 --fresh "$@" \
    >>"$out/log.txt" 2>&1 || echo "bench $timer $* exited with $?" | tee -a "$out/log.txt"
}

for timer; do
  name=$(echo "$timer" | tr : -)
  bench "$timer" "$name/quick" --quick --suite \
    epilogue-bf16,matmul-bf16,matmul-fp16,matmul-fp32,decode-fp8,router-bf16,mlx-qmm,grouped-nvfp4
  bench "$timer" "$name/dot" --suite decode-bf16-k7168,decode-bf16-models --kernel dot
  bench "$timer" "$name/cublas" --suite mlx-qmm --kernel cublas --m 2048
done
grep -h "^Took" "$out/log.txt"
python3 docs/notes/bound-check/count.py "$out"
