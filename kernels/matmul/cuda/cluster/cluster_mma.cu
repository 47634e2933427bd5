// A product in one launch on tensor cores: 16-bit operands, fp32 sums. See cluster.cuh.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   bias [N] or null           C [M, N], rows ldc apart
//   block 32 * WARPS, STAGES * (BM + BN) * BK * 2 + BM * BN * 4 + 16 bytes
#include "cluster.cuh"
#include "../tile/tiled_mma.cuh"
#include "cluster_ring.cuh"

CLUSTER_ENTRY(cluster_mma, Ring)
