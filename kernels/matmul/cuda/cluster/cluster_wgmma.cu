// A product in one launch by warpgroups: 16-bit operands, fp32 sums. See cluster.cuh.
//
// Idea: a product of 64 x BN reads its operands from shared memory once, not once for each warp, so
// that tiles are large, and each operand is read from the cache less often.
//
//   A [M, K], rows lda apart   B [N, K] (nt), rows ldb apart
//   bias [N] or null           C [M, N], rows ldc apart
//   block 32 * WARPS, whole warpgroups; STAGES * (BM + BN) * BK * 2 + BM * BN * 4 + 16 bytes, or
//   the stages alone where CLUSTER is 1
#define WARPGROUPS 1
#include "cluster.cuh"
#include "../tile/tiled_wgmma.cuh"
#include "cluster_ring.cuh"

CLUSTER_ENTRY(cluster_wgmma, Ring)
