// Scales and biases of a block's K slice in shared memory.
//
// Compile-time: qmm_ring.cuh's.
#ifndef MNKBENCH_QMM_TABLE
#define MNKBENCH_QMM_TABLE
#include "qmm_ring.cuh"

// Scales and biases of the block's K slice as they are stored, asked for before any weights:
// behind these they would be the last to come.
struct Table {
  using Scale = Stored<TYPE>::Scale;
  // Elements of a 16-byte chunk. The first group may lie anywhere in one.
  static constexpr int PER = 16 / sizeof(Scale);
  unsigned base;
  int pitch, skip;

  __device__ Table(unsigned base, int slice, int from)
      : base(base), pitch(((slice / GROUP + 2 * PER - 2) / PER | 1) * 16), skip(from % PER) {}

  // From group `from` of `length` of each row on; `count` groups, 0 where there are none.
  __device__ void fill(const void* scales, const void* biases, int n0, int N, int from,
                       int length, int count) const {
    copy((const Scale*)scales, base, n0, N, from - skip, length, count + skip);
    if (BIASED) copy((const Scale*)biases, base + BN * pitch, n0, N, from - skip, length,
                     count + skip);
  }

  __device__ unsigned at(int group, int row) const {
    return base + row * pitch + (skip + group) * (int)sizeof(Scale);
  }
  // The scale of a group as a pair of TYPE, times 2^7 over what the weights' fields lack.
  __device__ unsigned pair(int group, int row) const {
    unsigned two = e4m3_to_2f16(load_shared_u8_movable(at(group, row)) * 0x101);
    if (Kind<TYPE>::SHIFT == 3) return times<f16>(two, 0x58005800);
    float scale = half_of(two, 0) * 0x1p119f;
    return f32_to_2bf16(scale, scale);
  }
  __device__ Factors get(int group, int row) const {
    if constexpr (BIASED) {
      unsigned short s = load_shared_u16_movable(at(group, row));
      unsigned short b = load_shared_u16_movable(at(group, row) + BN * pitch);
      return factors<TYPE>(widen(TYPE{s}), widen(TYPE{b}));
    } else {
      return factors<TYPE>(decode_scale(MODE, load_shared_u8_movable(at(group, row))), 0);
    }
  }

 private:
  __device__ void copy(const Scale* from, unsigned to, int n0, int N, int first, int length,
                       int count) const {
    int chunks = (count + PER - 1) / PER, rows = min(BN, N - n0);
    from += (long long)n0 * length + first;
    if (length % PER == 0 && (unsigned long long)from % 16 == 0) {
      for (int i = threadIdx.x; i < rows * chunks; i += THREADS) {
        int row = i / chunks, chunk = i % chunks;
        copy_async_16(to + row * pitch + chunk * 16, from + (long long)row * length + chunk * PER,
                      first + chunk * PER < length);
      }
      return;
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * count; i += THREADS) {
      int row = i / count, group = i % count;
      Scale x = {};
      if (first + group < length) x = from[(long long)row * length + group];
      put(to + row * pitch + group * (int)sizeof(Scale), x);
    }
  }
  __device__ static void put(unsigned to, TYPE x) { store_shared_u16(to, x.bits); }
  __device__ static void put(unsigned to, unsigned char x) { store_shared_u8(to, x); }
};

#endif
