// Eight consecutive weights of a row as four pairs of 16-bit floats, for tensor cores.
//
// Idea: a code is not converted but placed into the bits of a float. An affine code q under
// an exponent is OFFSET + q, and sums of OFFSET * x are taken off once for each group; the
// fields of a 4-bit float, shifted to those of a wider one, are the value but for a power of
// two. What is left of scales and biases is one multiply-add for each group.
//
// Compile-time: MODE, BITS, GROUP (formats.h), CHANNEL (1: a row has one scale, GROUP is a part of it).
#ifndef MNKBENCH_OCTET
#define MNKBENCH_OCTET
#include "../../common/mutant.h"
#include "../../device/ptx.h"
#include "weight.cuh"

#ifndef CHANNEL
#define CHANNEL 0
#endif

// Pairs are of weights i and i + 4, or, of bytes, of neighbours.
constexpr bool ADJACENT = BITS == 8;
constexpr bool BIASED = MODE == AFFINE;
constexpr unsigned CODE = (1 << BITS) - 1;

// The type of stored scales: affine ones are of the type of x, T.
template <class T, bool = BIASED> struct Stored { using Scale = T; };
template <class T> struct Stored<T, false> { using Scale = unsigned char; };

template <class T> struct Kind;
template <> struct Kind<f16> {
  static constexpr unsigned ONES = 0x3c003c00, MAGIC = 0x64006400;
  // What is added to a code, and what the value of a pair's half is a fraction of.
  static constexpr float OFFSET = BIASED ? 1024 : 0;
  static constexpr float GAIN = MODE == MXFP4 || MODE == NVFP4 ? 0x1p14f : 1;
  // Places e2m1's exponent and mantissa from the top of a half.
  static constexpr int SHIFT = 3;
  static constexpr unsigned FIELDS = 0x0e000e00;
};
template <> struct Kind<bf16> {
  static constexpr unsigned ONES = 0x3f803f80, MAGIC = 0x43004300;
  static constexpr float OFFSET = BIASED && BITS < 8 ? 128 : 0;
  static constexpr float GAIN = 1;
  static constexpr int SHIFT = 6;
  static constexpr unsigned FIELDS = 0x01c001c0;
};

// Pairwise products. The first type is that of the elements.
template <class T> __device__ unsigned times(unsigned a, unsigned b);
template <> __device__ inline unsigned times<f16>(unsigned a, unsigned b) {
  return multiply_2f16(a, b);
}
template <> __device__ inline unsigned times<bf16>(unsigned a, unsigned b) {
  return multiply_2bf16(a, b);
}

__device__ inline float half_of(unsigned pair, int which) {
  return widen(f16{(unsigned short)(which ? pair >> 16 : pair)});
}

template <class T> __device__ inline void pair_bytes(unsigned word, unsigned (&p)[2]);
template <> __device__ inline void pair_bytes<f16>(unsigned word, unsigned (&p)[2]) {
  if (BIASED) {
    p[0] = __byte_perm(word, Kind<f16>::MAGIC, 0x5150);
    p[1] = __byte_perm(word, Kind<f16>::MAGIC, 0x5352);
  } else {
    e4m3_to_4f16(p, word);
  }
}
// bf16 has 8 bits for a code of 8: no offset. By way of fp32, where 2^23 + q is exact.
template <> __device__ inline void pair_bytes<bf16>(unsigned word, unsigned (&p)[2]) {
  float x[4];
  if (BIASED) {
    for (int i = 0; i < 4; i++)
      x[i] = __uint_as_float(__byte_perm(word, 0x4b000000, 0x7440 | i)) - 0x1p23f;
  } else {
    unsigned halves[2];
    pair_bytes<f16>(word, halves);
    for (int i = 0; i < 4; i++) x[i] = half_of(halves[i / 2], i % 2);
  }
  p[0] = f32_to_2bf16(x[0], x[1]);
  p[1] = f32_to_2bf16(x[2], x[3]);
}

// The pairs of the octet in the low 8 * BITS bits of {high, low}, divided by GAIN and with
// OFFSET added; in bf16, nvfp4's are values times 2^-126. `magic`: MAGIC, better from a register:
// a lop3 has room for one constant, and of two the compiler makes an `and` and an `or`.
template <class T>
__device__ inline void pairs(unsigned low, unsigned high, unsigned (&p)[4],
                             unsigned magic = Kind<T>::MAGIC) {
  using K = Kind<T>;
  if constexpr (BITS == 8) {
    pair_bytes<T>(low, *(unsigned(*)[2])p);
    pair_bytes<T>(high, *(unsigned(*)[2])(p + 2));
  } else if constexpr (!BIASED) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      unsigned top = low << (12 - 4 * i);
      p[i] = (top & 0x80008000) | ((top >> K::SHIFT) & K::FIELDS);
      // bf16 numbers this small would leave sums below what fp32 can hold.
      if (MODE == MXFP4 && K::SHIFT == 6) p[i] = times<T>(p[i], 0x7e807e80);
    }
  } else {
    // Four codes in each half of a word, or in a word each.
    constexpr int APART = BITS < 4 ? 16 - 4 * BITS : 0;
    constexpr unsigned HALF = (1u << (16 - APART)) - 1;
    unsigned first = low, second = 0;
    if (BITS < 4) first = (low & HALF) | (low << APART & HALF << 16);
    if (BITS > 4) second = __funnelshift_r(low, high, 4 * BITS);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      unsigned codes = first >> BITS * i;
      if (BITS > 4) codes = __byte_perm(codes, second >> BITS * i, 0x5410);
      p[i] = (codes & (CODE | CODE << 16)) | magic;
    }
  }
}

// Eight 16-bit elements as pairs in the order of `pairs`.
__device__ inline void order(const uint4& x, unsigned (&b)[4]) {
  if (ADJACENT) {
    b[0] = x.x, b[1] = x.y, b[2] = x.z, b[3] = x.w;
  } else {
    b[0] = __byte_perm(x.x, x.z, 0x5410);
    b[1] = __byte_perm(x.x, x.z, 0x7632);
    b[2] = __byte_perm(x.y, x.w, 0x5410);
    b[3] = __byte_perm(x.y, x.w, 0x7632);
    if (MUTANT(octet_wrong_order)) b[0] = b[2];
  }
}
// Which weight of the octet is half `h` of pair `i`.
__device__ constexpr int weight_of(int i, int h) {
  return ADJACENT || MUTANT(octet_adjacent) ? 2 * i + h : i + 4 * h;
}

// What a sum over a group is multiplied by, and what the sum of its x is.
struct Factors {
  float scale, bias;
};
template <class T>
__device__ inline Factors factors(float scale, float bias) {
  // A product of finite numbers stays one: infinity times a sum of 0 would be NaN.
  float s = Kind<T>::GAIN == 1 ? scale
            : scale >= 0x1p113f && scale <= 0x1.fffffep127f ? 0x1p127f : scale * Kind<T>::GAIN;
  return {s, MUTANT(octet_no_offset) ? bias : bias - Kind<T>::OFFSET * scale};
}

#endif
