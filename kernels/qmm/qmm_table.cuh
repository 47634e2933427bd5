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
    unsigned short code;
    unsigned two;
    asm volatile("ld.shared.u8 %0, [%1];" : "=h"(code) : "r"(at(group, row)));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(two) : "h"((unsigned short)(code * 0x101)));
    if (Kind<TYPE>::SHIFT == 3) return times<f16>(two, 0x58005800);
    float scale = half_of(two, 0) * 0x1p119f;
    return pack_bf16(scale, scale);
  }
  __device__ Factors get(int group, int row) const {
    unsigned short s, b = 0;
    if constexpr (BIASED) {
      asm volatile("ld.shared.u16 %0, [%1];" : "=h"(s) : "r"(at(group, row)));
      asm volatile("ld.shared.u16 %0, [%1];" : "=h"(b) : "r"(at(group, row) + BN * pitch));
      return factors<TYPE>(widen(TYPE{s}), widen(TYPE{b}));
    } else {
      asm volatile("ld.shared.u8 %0, [%1];" : "=h"(s) : "r"(at(group, row)));
      return factors<TYPE>(decode_scale(MODE, s), 0);
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
        asm volatile("{ .reg .pred absent; setp.ne.b32 absent, %2, 0;\n"
                     "cp.async.cg.shared.global [%0], [%1], 16, absent; }" ::
                     "r"(to + row * pitch + chunk * 16),
                     "l"(from + (long long)row * length + chunk * PER),
                     "r"((int)(first + chunk * PER >= length)) : "memory");
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
  __device__ static void put(unsigned to, TYPE x) {
    asm volatile("st.shared.u16 [%0], %1;" :: "r"(to), "h"(x.bits) : "memory");
  }
  __device__ static void put(unsigned to, unsigned char x) {
    asm volatile("st.shared.u8 [%0], %1;" :: "r"(to), "h"((unsigned short)x) : "memory");
  }
};

#endif
