// As cluster_wgmma.cu, but copies of whole tiles by tensor maps. See cluster.cuh.
//
// Idea: a thread of a warp of its own asks for a K step of both operands; no other has anything to
// do with addresses, and what does not exist arrives as zeros.
//
//   A [M, K], boxes of BM x 64   B [N, K] (nt), boxes of BN x 64
//   bias [N] or null             C [M, N], rows ldc apart
//   slice is whole K steps; block 32 * WARPS, whole warpgroups, + 32; STAGES * ((BM + BN) * BK * 2
//   + 16) + shares of BM * BN * 4 + 16 bytes, or without the last two where CLUSTER is 1
#define WARPGROUPS 1
#include "cluster.cuh"
#include "../tile/tiled_wgmma.cuh"
#include "../tile/tma_ring.cuh"

extern "C" __global__ void __launch_bounds__(TensorRing::BLOCK, 1)
cluster_tensor(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
               const TYPE* bias, TYPE* C, int M, int N, int K, int slice, int ldc, int relu) {
  cluster_of<TensorRing, true>(&A, &B, {C, bias, relu}, {}, {M, N, K, slice, 0, 0, ldc});
}
