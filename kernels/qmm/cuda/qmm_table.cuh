// Scales and biases of a block's K slice in shared memory.
//
// Compile-time: qmm_ring.cuh's.
#ifndef MNKBENCH_QMM_TABLE
#define MNKBENCH_QMM_TABLE
#include "../../common/mutant.h"
#include "qmm_ring.cuh"

// Scales and biases of the block's K slice as they are stored, asked for before any weights:
// behind these they would be the last to come.
// Groups whose scales are read at once, where there are registers for them.
constexpr int ALIKE = BIASED && GROUP <= 64 && NT <= 4 ? 2 : 1;
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
    int first = from - skip, rows = min(BN, N - n0);
    long long origin = (long long)n0 * length + first;
    const Scale *s = (const Scale*)scales + origin, *b = (const Scale*)biases + origin;
    auto at = [](const Scale* p) { return (unsigned long long)p % 16; };
    if (length % PER == 0 && at(s) == 0 && (!BIASED || at(b) == 0)) {
      chunks(s, b, rows, length, first, count + skip);
      return;
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * (count + skip); i += THREADS) {
      int row = i / (count + skip), group = i % (count + skip);
      unsigned to = base + row * pitch + group * (int)sizeof(Scale);
      bool there = first + group < length;
      long long from = (long long)row * length + group;
      put(to, there ? s[from] : Scale{});
      if (BIASED) put(to + BN * pitch, there ? b[from] : Scale{});
    }
  }

  __device__ unsigned at(int group, int row) const {
    return base + row * pitch + ((MUTANT(qmm_no_skip) ? 0 : skip) + group) * (int)sizeof(Scale);
  }
  // The scale of a group as a pair of TYPE, times 2^7 over what the weights' fields lack.
  __device__ unsigned pair(int group, int row) const {
    unsigned two = e4m3_to_2f16(load_shared_u8_movable(at(group, row)) * 0x101);
    if (Kind<TYPE>::SHIFT == 3) return times<f16>(two, 0x58005800);
    float scale = half_of(two, 0) * 0x1p119f;
    return f32_to_2bf16(scale, scale);
  }
  // Of ALIKE groups from `group` on, which is a multiple of ALIKE.
  __device__ void get(Factors (&f)[ALIKE], int group, int row) const {
    if constexpr (ALIKE == 2) {
      unsigned s = load_shared_u32_movable(at(group, row));
      unsigned b = load_shared_u32_movable(at(group, row) + BN * pitch);
      for (int i = 0; i < 2; i++)
        f[i] = factors<TYPE>(widen(TYPE{(unsigned short)(s >> 16 * (MUTANT(qmm_same_scale) ? 0 : i))}),
                             widen(TYPE{(unsigned short)(b >> 16 * i)}));
    } else if constexpr (BIASED) {
      unsigned short s = load_shared_u16_movable(at(group, row));
      unsigned short b = load_shared_u16_movable(at(group, row) + BN * pitch);
      f[0] = factors<TYPE>(widen(TYPE{s}), widen(TYPE{b}));
    } else {
      f[0] = factors<TYPE>(decode_scale(MODE, load_shared_u8_movable(at(group, row))), 0);
    }
  }

 private:
  // By 16 bytes. Some threads to a row, each row's neighbours to one another: no division.
  __device__ void chunks(const Scale* s, const Scale* b, int rows, int length, int first,
                         int count) const {
    constexpr unsigned LANES = THREADS > BN ? THREADS / BN : 1;
    int lane = threadIdx.x % LANES * PER;
#pragma unroll 1
    for (int row = threadIdx.x / LANES; row < rows; row += THREADS / LANES) {
      unsigned to = base + row * pitch + lane * (int)sizeof(Scale);
      long long from = (long long)row * length + lane;
#pragma unroll 1
      for (int group = lane; group < count; group += LANES * PER) {
        bool there = first + group < length;
        copy_async_16(to, s + from, there);
        if (BIASED) copy_async_16(to + BN * pitch, b + from, there);
        to += LANES * 16;
        from += LANES * PER;
      }
    }
  }
  __device__ static void put(unsigned to, TYPE x) { store_shared_u16(to, x.bits); }
  __device__ static void put(unsigned to, unsigned char x) { store_shared_u8(to, x); }
};

#endif
