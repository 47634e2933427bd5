#!/bin/sh
# Measures what a cooperative launch costs on the GPU of this machine, and whether kernels that wait
# for other blocks hang on two streams beside a kernel that fills the device.
#
# Usage, from anywhere: docs/notes/waiting-kernels/run.sh OUT [ROUNDS [build | facts]]
# Needs nvcc 13, g++ and one GPU with clusters. At most 135 s with 100 ROUNDS (the default) of 500
# launches on each of two streams; nothing starts after 90 s. OUT/results.csv and OUT/log.txt have the results. Launches
# that are not cooperative come last. Every wait in the second part is bounded (bounded.h), and
# every process has a time limit.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: run.sh OUT [ROUNDS]}
rounds=${2:-100}
mkdir -p "$out" && out=$(cd "$out" && pwd)
cluster=$here/../../../kernels/matmul/cuda/cluster/cluster.cu
cd "$here" || exit 1
arch="-gencode=arch=compute_90a,code=sm_90a"
flags="-cubin $arch -std=c++17 -lineinfo"

# The last column of cases.tsv are the options of the compiler; "x32.cubin" waits without a bound.
nvcc $flags -o "$out/helpers.cubin" helpers.cu &
for name in $(cut -f1 cases.tsv); do
  defines=$(grep "^$name	" cases.tsv | cut -f20)
  nvcc $flags $defines -o "$out/$name.cubin" "$cluster" &
  nvcc $flags $defines -include bounded.h -o "$out/$name.bounded.cubin" "$cluster" &
done
g++ -std=c++17 -O2 -Wall -I"${CUDA_HOME:-/usr/local/cuda}/include" -o "$out/probe" probe.cc -ldl -lpthread || exit 1
wait
[ "${3:-}" = build ] && exit

began=$(date +%s)
echo "part,case,launch,what,value" >"$out/results.csv"
probe() { # SECONDS ARGUMENT...
  limit=$1
  shift
  [ $(($(date +%s) - began)) -lt 90 ] || { echo "$1,${2:-},${4:-},no time left," >>"$out/results.csv"; return; }
  echo "probe $*" >>"$out/log.txt"
  timeout -k 2 "$limit" "$out/probe" "$out" "$@" >>"$out/results.csv" 2>>"$out/log.txt"
  status=$?
  [ $status -eq 0 ] || echo "$1,${2:-},${4:-},exit status,$status" >>"$out/results.csv"
}
probe 20 facts
[ "${3:-}" = facts ] && exec cat "$out/results.csv"
for name in x32 x128 x132 x128c2 c96; do probe 20 latency $name; done
# stress FIRST SECOND LAUNCH HOW ROUNDS: plain, or coop(erative); streams of the same or of different
# priority, or graphs of 50.
probe 45 stress x132 x132 coop same "$rounds"
probe 45 stress x128 c96 coop same "$rounds"
probe 45 stress x132 x132 coop priority $(((rounds + 4) / 5))
probe 45 stress x128 x128c2 coop same $(((rounds + 4) / 5))
probe 45 stress x32 x32 coop same $(((rounds + 4) / 5))
probe 45 stress x132 x132 coop graph $(((rounds + 4) / 5))
probe 45 stress x128 x128 coop graph $(((rounds + 4) / 5))
# One of the two only is cooperative.
probe 45 stress x132 x132 mixed same $(((rounds + 4) / 5))
probe 45 stress x132 x132 plain same $(((rounds + 4) / 5))
probe 45 stress x132 x132 plain graph $(((rounds + 4) / 5))
probe 45 stress x128 c96 plain same $(((rounds + 4) / 5))
probe 45 stress x132 x132 plain priority $(((rounds + 4) / 5))
column -s, -t "$out/results.csv" 2>/dev/null || cat "$out/results.csv"
