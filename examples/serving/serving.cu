// C = A · Bᵀ + bias in bf16 with fp32 sums, in five ways that serving engines launch such kernels.
// All take any M, N and K; the suite says what each one shows.
#include <cuda_bf16.h>
#include <ptx.h>
#include <ptx_barrier.h>

typedef __nv_bfloat16 bf16;

constexpr int THREADS = 128;

// By value, as a parameter of 24 bytes.
struct Shape {
  int m, n, k, lda, ldb, ldc;
};

// Writes Bᵀ, [k, n], so that threads side by side read weights side by side.
extern "C" __global__ void repack(const bf16 *B, bf16 *packed, int n, int k, int ldb) {
  const int col = blockIdx.x * THREADS + threadIdx.x;
  if (col < n) packed[(long)blockIdx.y * n + col] = B[(long)col * ldb + blockIdx.y];
}

// A block has a row of A in dynamic shared memory.
extern "C" __global__ void repacked(const bf16 *A, const bf16 *packed, const bf16 *bias, bf16 *C, Shape s) {
  extern __shared__ __align__(16) bf16 row[];
  for (int i = threadIdx.x; i < s.k; i += THREADS) row[i] = A[(long)blockIdx.y * s.lda + i];
  __syncthreads();
  const int col = blockIdx.x * THREADS + threadIdx.x;
  if (col >= s.n) return;
  float sum = 0;
  for (int i = 0; i < s.k; i++) sum += __bfloat162float(row[i]) * __bfloat162float(packed[(long)i * s.n + col]);
  C[(long)blockIdx.y * s.ldc + col] = __float2bfloat16(sum + __bfloat162float(bias[col]));
}

// Of the bias and C of `locked`.
#ifdef MINE_WIDE
typedef float Out;
#else
typedef bf16 Out;
#endif

// Blocks along z sum a part of K each. The last one of a tile writes it, and leaves sums and locks
// as it found them: zero.
extern "C" __global__ void locked(const bf16 *A, const bf16 *B, const Out *bias, Out *C, float *sums,
                                  unsigned *locks, Shape s, bool has_bias) {
  const int col = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;
  const int part = (s.k + gridDim.z - 1) / gridDim.z, from = blockIdx.z * part;
  const int to = from + part < s.k ? from + part : s.k;
  const long at = (long)row * s.n + col;
  if (col < s.n) {
    float sum = 0;
    for (int i = from; i < to; i++)
      sum += __bfloat162float(A[(long)row * s.lda + i]) * __bfloat162float(B[(long)col * s.ldb + i]);
    atomicAdd(&sums[at], sum);
  }
  __threadfence();
  __syncthreads();
  __shared__ bool last;
  unsigned *lock = &locks[blockIdx.y * gridDim.x + blockIdx.x];
  // Back at zero after the last.
  if (threadIdx.x == 0) last = atomicInc(lock, gridDim.z - 1) == gridDim.z - 1;
  __syncthreads();
  if (!last || col >= s.n) return;
  __threadfence();
  const float sum = atomicExch(&sums[at], 0.0f);
  C[(long)row * s.ldc + col] = Out(sum + (has_bias ? float(bias[col]) : 0.0f));
}

// A cluster of MINE_BLOCKS blocks sums a tile of ROWS rows, each a part of K, in its first block's
// shared memory. Without the prefix the macro of the tunable would replace the template's BLOCKS.
template <int ROWS, int BLOCKS>
__device__ void clustered(const bf16 *A, const bf16 *B, const bf16 *bias, bf16 *C, int M, int N, int K, int lda,
                          int ldb, int ldc) {
  __shared__ float parts[BLOCKS][ROWS][THREADS];
  const int rank = cluster_rank(), t = threadIdx.x;
  const int col = blockIdx.x / BLOCKS * THREADS + t, row = blockIdx.y * ROWS;
  const int part = (K + BLOCKS - 1) / BLOCKS, from = rank * part, to = from + part < K ? from + part : K;
  // No block stores into the memory of one that has not started.
  cluster_sync();
  for (int r = 0; r < ROWS; r++) {
    float sum = 0;
    if (col < N && row + r < M)
      for (int i = from; i < to; i++)
        sum += __bfloat162float(A[(long)(row + r) * lda + i]) * __bfloat162float(B[(long)col * ldb + i]);
    store_cluster(shared_address(&parts[rank][r][t]), 0, sum);
  }
  cluster_sync();
  if (rank > 0 || col >= N) return;
  for (int r = 0; r < ROWS && row + r < M; r++) {
    float sum = __bfloat162float(bias[col]);
    for (int i = 0; i < BLOCKS; i++) sum += parts[i][r][t];
    C[(long)(row + r) * ldc + col] = __float2bfloat16(sum);
  }
}
#ifdef MINE_BLOCKS
extern "C" __global__ void clustered_1(const bf16 *A, const bf16 *B, const bf16 *bias, bf16 *C, int M, int N, int K,
                                       int lda, int ldb, int ldc) {
  clustered<1, MINE_BLOCKS>(A, B, bias, C, M, N, K, lda, ldb, ldc);
}
extern "C" __global__ void clustered_4(const bf16 *A, const bf16 *B, const bf16 *bias, bf16 *C, int M, int N, int K,
                                       int lda, int ldb, int ldc) {
  clustered<4, MINE_BLOCKS>(A, B, bias, C, M, N, K, lda, ldb, ldc);
}
#endif

// Two launches, of which the second starts while the first runs, and waits before it reads `sums`.
extern "C" __global__ void first(const bf16 *A, const bf16 *B, float *sums, Shape s) {
  launch_dependents();
  const int col = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;
  if (col >= s.n) return;
  float sum = 0;
  for (int i = 0; i < s.k; i++)
    sum += __bfloat162float(A[(long)row * s.lda + i]) * __bfloat162float(B[(long)col * s.ldb + i]);
  sums[(long)row * s.n + col] = sum;
}
extern "C" __global__ void second(const float *sums, const bf16 *bias, bf16 *C, Shape s) {
  const int col = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;
  // No launch writes the bias.
  const float add = col < s.n ? __bfloat162float(bias[col]) : 0.0f;
  wait_for_prerequisites();
  if (col < s.n) C[(long)row * s.ldc + col] = __float2bfloat16(sums[(long)row * s.n + col] + add);
}

// Tiles of 16 rows and 64 columns of A come by a tensor map: rows and columns beyond it are zeros.
extern "C" __global__ void mapped(const __grid_constant__ TensorMap map, const bf16 *B, const bf16 *bias, bf16 *C,
                                  Shape s) {
  constexpr int ROWS = 16, COLUMNS = 64, BYTES = ROWS * COLUMNS * 2;
  __shared__ __align__(128) bf16 tile[ROWS][COLUMNS];
  __shared__ __align__(8) unsigned long long full;
  const unsigned bar = shared_address(&full);
  const int col = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y * ROWS;
  if (threadIdx.x == 0) {
    barrier_init(bar, 1);
    barrier_made();
  }
  __syncthreads();
  float sums[ROWS] = {};
  for (int k = 0, phase = 0; k < s.k; k += COLUMNS, phase ^= 1) {
    if (threadIdx.x == 0) {
      barrier_expect(bar, BYTES);
      copy_tile(shared_address(tile), &map, k, row, bar);
    }
    barrier_wait(bar, phase);
    const int columns = s.k - k < COLUMNS ? s.k - k : COLUMNS;
    if (col < s.n)
      for (int i = 0; i < columns; i++) {
        const float b = __bfloat162float(B[(long)col * s.ldb + k + i]);
        for (int r = 0; r < ROWS; r++) sums[r] += __bfloat162float(tile[r][i]) * b;
      }
    // All have read the tile before the next one comes.
    __syncthreads();
  }
  if (col >= s.n) return;
  for (int r = 0; r < ROWS && row + r < s.m; r++)
    C[(long)(row + r) * s.ldc + col] = __float2bfloat16(sums[r] + __bfloat162float(bias[col]));
}
