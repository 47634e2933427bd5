// cluster.cu by warpgroups where B is stored by rows (nn). A source of its own, so that the code of
// cluster.cu, by which rows are recorded, does not change.
//
//   B: boxes of BK / TILES_M x 64
#include "../tile/tiled_wgmma_nn.cuh"
#include "cluster.cu"
