// C = A . B^T of one problem of a list: the list is as many launches, each waited for.
//
// Idea: what one has first. A small problem fills a part of the device, and the next one starts
// when all of it is done.
//
//   grid (tiles of N, tiles of M), block 128
#include "plain.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
per_group(const Problem* problems, int problem, int mmajor) {
  multiply(problems[problem], blockIdx.y * TILE, blockIdx.x * TILE, mmajor);
}
