// C = A . B^T for a list of problems in one launch.
//
// Idea: the tiles of all problems are one row of numbers. As many blocks as the device holds at
// once take each gridDim.x-th of them, so a small problem leaves nothing idle but at the very end.
//
//   block 128
#include "../../common/mutant.h"
#include "plain.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
persistent(const Problem* problems, int count, int mmajor) {
  int first = 0, tile = blockIdx.x; // the first tile of problem `problem`
  for (int problem = 0; problem < count; problem++) {
    const Problem& p = problems[problem];
    int end = first + tiles_of(p), across = (p.n + TILE - 1) / TILE;
    for (; tile < end; tile += gridDim.x) {
      int own = tile - first;
      multiply(p, own / across * TILE, own % across * TILE, mmajor);
    }
    if (!MUTANT(persistent_same_tiles)) first = end;
  }
}
