// cluster.cu for tiles of eight rows, with 16-bit operands and a ring for each warp.
#include "../tile/tiled_mma8.cuh"
#include "cluster.cu"
