// How the sums of a cluster's sets of warpgroups are added and stored.
//
// Idea: four sums of a thread, of eight tokens, are a letter. Letter i belongs to set i % SETS, and
// of a set's letters every CLUSTERth to the same block. Sets hand letters over through shared
// memory, then blocks do through mailboxes, each thread to the one with its number: no sum is put
// in order before it is complete. What came is added in the order of the senders.
//
// Compile-time: TYPE, BM, ROWS, SETS, CLUSTER, THREADS, SET, NN, HALF, UNSCALE, row_of().
#ifndef MNKBENCH_WGMMA_REDUCE
#define MNKBENCH_WGMMA_REDUCE
#include "../../common/mutant.h"
#include "../../device/ptx_barrier.h"
#include "../../device/ptx_memory.h"
#include "../../device/ptx_stmatrix.h"
#include "../../matmul/cuda/tile/element.cuh"

constexpr int LETTERS = BM / 8;
// At most, of a set, and of those of a block.
constexpr int OF_SET = (LETTERS + SETS - 1) / SETS, OF_BLOCK = (OF_SET + CLUSTER - 1) / CLUSTER;
// Bytes: of what sets hand over, of what is stored in its order, of what other blocks send.
constexpr int HANDED = (SETS - 1) * OF_SET * THREADS * 16;
constexpr int PITCH_Y = ROWS + 8, SUMS = HANDED + BM * PITCH_Y * 2;
constexpr int BOXES = (CLUSTER - 1) * OF_BLOCK * THREADS * 16, MAILBOX = CLUSTER > 1 ? BOXES + 16 : 0;

struct Reduce {
  unsigned sums, mail;  // where they lie, the barrier behind the mail
  int set, rank;

  __device__ Reduce(unsigned sums, unsigned mail, int set)
      : sums(sums), mail(mail), set(set), rank(CLUSTER > 1 ? cluster_rank() : 0) {}
  __device__ unsigned bar() const { return mail + BOXES; }
  __device__ bool mine(int letter) const {
    return letter % SETS == set && letter / SETS % CLUSTER == rank;
  }

  // All threads, those that copy too: the mailbox is open; the cluster learns of it without waiting.
  __device__ void open() const {
    if (CLUSTER == 1) return;
    if (threadIdx.x == 0) {
      int letters = 0;
      for (int i = 0; i < LETTERS; i++) letters += i / SETS % CLUSTER == rank;
      barrier_open(bar(), (CLUSTER - 1) * letters * SET * 16);
    }
    __syncwarp();
    cluster_arrive_relaxed();
  }
  // All threads: the other mailboxes are open.
  __device__ void ready() const {
    if (CLUSTER > 1 && !MUTANT(warpgroup_early_send)) cluster_wait();
  }
  // All threads, where mail takes the place of what was copied: no block of the cluster reads it.
  __device__ void make_room() const {
    if (!LATE || MUTANT(warpgroup_early_mail)) return;
    ready();
    cluster_arrive();
  }

  // Adds all parts of `d` to those that this thread's set and block have.
  __device__ __forceinline__ void add(float (&d)[BM / 2]) const {
    if (!MUTANT(warpgroup_early_sums)) sync_some<THREADS>(1);
    unsigned thread = threadIdx.x % SET;
    if (SETS > 1) {
#pragma unroll
      for (int i = 0; i < LETTERS; i++)
        if (i % SETS != set)
          put(sums + (handed(i % SETS, set - (set > i % SETS), i / SETS) + thread) * 16, d + 4 * i);
      if (!MUTANT(warpgroup_no_sum_barrier)) sync_some<THREADS>(1);
#pragma unroll
      for (int i = 0; i < LETTERS; i++)
        if (i % SETS == set)
#pragma unroll
          for (int from = 0; from < SETS - 1; from++)
            plus(d + 4 * i, sums + (handed(i % SETS, from, i / SETS) + thread) * 16);
    }
    make_room();
    ready();
    if (CLUSTER > 1) exchange(d);
  }

  // Stores this block's letters, by rows of y.
  __device__ __forceinline__ void store(const float (&d)[BM / 2], TYPE* y, int m0, int n0, int M,
                                        int N) const {
    unsigned rows = sums + HANDED;
#pragma unroll
    for (int i = 0; i < LETTERS; i++)
      if (mine(i)) put_row_major(rows + i * 8 * PITCH_Y * 2, d + 4 * i);
    if (!MUTANT(warpgroup_no_row_barrier)) sync_some<THREADS>(1);
    constexpr int CHUNKS = ROWS / 8;
    for (int i = threadIdx.x; i < OF_BLOCK * SETS * ROWS; i += THREADS) {
      int letter = (i / ROWS / SETS * CLUSTER + rank) * SETS + i / ROWS % SETS;
      int token = letter * 8 + i % ROWS / CHUNKS, m = m0 + token, n = n0 + i % CHUNKS * 8;
      if (letter >= LETTERS || m >= M) continue;
      Pack<TYPE, 8> out;
      uint4& bits = *(uint4*)&out;
      load_shared(bits, rows + (token * PITCH_Y + i % CHUNKS * 8) * 2);
      ::store(y + (long long)m * N + n, out, N - n);
    }
  }

 private:
  // Adds what other blocks have of this block's letters, and sends them theirs.
  __device__ __forceinline__ void exchange(float (&d)[BM / 2]) const {
#pragma unroll
    for (int i = 0; i < LETTERS; i++) {
      int owner = i / SETS % CLUSTER;
      if (i % SETS != set || owner == rank) continue;
      const float(&four)[4] = *(const float(*)[4])(d + 4 * i);
      store_async(mail + sent(rank - (rank > owner), i / SETS / CLUSTER) * 16, bar(), owner, four);
    }
    if (!MUTANT(warpgroup_no_receive)) barrier_wait_cluster<0>(bar());
#pragma unroll
    for (int i = 0; i < LETTERS; i++)
      if (mine(i))
#pragma unroll
        for (int from = 0; from < CLUSTER - 1; from++)
          plus(d + 4 * i, mail + sent(from, i / SETS / CLUSTER) * 16);
  }
  // Numbers of letters: of a set's from another one, and of a thread's from another block.
  __device__ static int handed(int owner, int from, int letter) {
    return ((owner * (SETS - 1) + from) * OF_SET + letter) * SET;
  }
  __device__ static int sent(int from, int letter) {
    return (from * OF_BLOCK + letter) * THREADS + threadIdx.x;
  }
  // A letter to the rows of its tokens, of which the first one begins at `to`.
  __device__ static __forceinline__ void put_row_major(unsigned to, const float* four) {
    unsigned lane = threadIdx.x % 32, warpgroup = threadIdx.x % SET / 128 * 64;
    if constexpr (NN) {
      // Rows r and r + 8 of a product are neighbours.
#pragma unroll
      for (int j = 0; j < 2; j++)
        store_shared_u32(to + ((lane % 4 * 2 + j) * PITCH_Y + warpgroup + row_of(0)) * 2,
                         pair(four[j], four[2 + j]));
    } else {
      // Two matrices of eight rows of W by eight tokens.
      unsigned row = warpgroup + threadIdx.x % 128 / 32 * 16 + lane / 8 % 2 * 8;
      unsigned halves[2] = {pair(four[0], four[1]), pair(four[2], four[3])};
      stmatrix_transposed(to + (lane % 8 * PITCH_Y + row) * 2, halves);
    }
  }
  __device__ static __forceinline__ unsigned pair(float low, float high) {
    low *= UNSCALE, high *= UNSCALE;
    return HALF ? f32_to_2f16(low, high) : f32_to_2bf16(low, high);
  }
  __device__ static __forceinline__ void put(unsigned to, const float* four) {
    store_shared(to, uint4{__float_as_uint(four[0]), __float_as_uint(four[1]),
                           __float_as_uint(four[2]), __float_as_uint(four[3])});
  }
  __device__ static __forceinline__ void plus(float* four, unsigned from) {
    float x[4];
    load_shared(x, from);
#pragma unroll
    for (int j = 0; j < 4; j++) four[j] += x[j];
  }
};

#endif
