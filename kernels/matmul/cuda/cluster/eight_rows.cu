// cluster.cu for tiles of eight rows, with 16-bit operands and a ring for each warp. A source of its
// own, so that the code of cluster.cu, by which rows are recorded, does not change.
#include "../tile/tiled_mma8.cuh"
#include "cluster.cu"
