#!/bin/sh
# Runs the cheats in CUDA on the GPU of this machine and prints a line for each, with the honest
# kernel beside them. nvcc must be on the path: two cheats compile kernels for a stream of their own.
# Asked: all wrong, launch or crash, and what is ok (evict-last, access-policy-window) no faster than
# the honest kernel with a cold cache.
#
# Usage, from anywhere: docs/notes/cheats/run.sh > table.md
# It takes a few minutes.
set -eu
cd "$(dirname "$0")/../../.."
exec deno run -A kernels/testdata/cheats/run.ts cuda
