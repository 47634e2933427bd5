#!/bin/sh
# Builds DIR/bench, DIR/bench-turns, DIR/probe and DIR/rate (default: /tmp/wgmma-decode). nvcc 13.0, no GPU needed.
set -e
cd "$(dirname "$0")"
OUT=${1:-/tmp/wgmma-decode}
mkdir -p "$OUT"
FLAGS="-std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a -diag-suppress 39,179"
nvcc $FLAGS -Xptxas -v -c variants.cu -o "$OUT/variants.o" 2> "$OUT/ptxas.log"
nvcc $FLAGS -c bench.cu -o "$OUT/bench.o"
nvcc $FLAGS "$OUT/variants.o" "$OUT/bench.o" -cudart static -ldl -o "$OUT/bench"
nvcc $FLAGS probe.cu -cudart static -o "$OUT/probe"
# The second note: variants_turns.cu in five parts.
for part in 0 1 2 3 4; do
  nvcc $FLAGS -DLIST=$part -Xptxas -v -c variants_turns.cu -o "$OUT/turns$part.o" 2> "$OUT/ptxas$part.log" &
done
wait
nvcc $FLAGS "$OUT"/turns?.o "$OUT/bench.o" -cudart static -ldl -o "$OUT/bench-turns"
nvcc $FLAGS rate.cu -cudart static -o "$OUT/rate"
