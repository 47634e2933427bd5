// C = relu(A · B) in bf16 with fp32 sums. A block of 16 x 16 threads computes a 16 x 16 tile of C
// and copies each K step of 16 through shared memory. Any M, N, K and leading dimensions.
// mnkbench: epilogue=relu
#include <cuda_bf16.h>

constexpr int TILE = 16;

extern "C" __global__ void tiled(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
                                 int M, int N, int K, int lda, int ldb, int ldc) {
  __shared__ __nv_bfloat16 a[TILE][TILE], b[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
  const __nv_bfloat16 zero = __float2bfloat16(0.0f);
  float sum = 0.0f;
  for (int k = 0; k < K; k += TILE) {
    a[y][x] = row < M && k + x < K ? A[row * lda + k + x] : zero;
    b[y][x] = k + y < K && col < N ? B[(k + y) * ldb + col] : zero;
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += __bfloat162float(a[y][i]) * __bfloat162float(b[i][x]);
    // Without this barrier a fast warp overwrites the tile that a slow one still reads.
    __syncthreads();
  }
  if (row < M && col < N) C[row * ldc + col] = __float2bfloat16(fmaxf(sum, 0.0f));
}
