// Stored weights to the register operand of a warpgroup's products.
//
// Idea: a lane has, of rows r and r + 8, two neighbours of each eight along K: weights 2 c and
// 2 c + 1 for c = lane % 4. MLX stores eight weights in BITS bytes, so a byte permutation whose
// selector depends on c alone finds both, and nothing is repacked. bf16 is linear from 0 to
// 2^-125: a code in the low bits of a bf16 number is the code times 2^-133, and one fused
// multiply-add with the scale times 2^101 makes the weight times 2^-32, rounded once. fp16 has no
// such range: there a code below an exponent is 1024 + code, from which 1024 is taken off. Two E2M1 codes
// take six or seven instructions: with TABLE most of them are looked up in shared memory, by three.
//
// Compile-time: TYPE, MODE, BITS, GROUP (formats.h), CHANNEL (1: a row has one scale, GROUP is a part of it),
// TABLE (1: E2M1 codes are looked up).
#ifndef MNKBENCH_WGMMA_DECODE
#define MNKBENCH_WGMMA_DECODE
#include "../../common/mutant.h"
#include "../../../bench/formats/formats.h"
#include "../../device/ptx_memory.h"
#include "../../matmul/cuda/tile/element.cuh"

#ifndef CHANNEL
#define CHANNEL 0
#endif

template <class A, class B> struct SameType { static constexpr bool value = false; };
template <class A> struct SameType<A, A> { static constexpr bool value = true; };
constexpr bool HALF = SameType<TYPE, f16>::value;

// Arrays of scales (biases are one), and bytes of a scale.
constexpr int ARRAYS = MODE == AFFINE ? 2 : 1, SCALE_BYTES = MODE == AFFINE ? 2 : 1;
// Words of a row's codes in a step of 64.
constexpr int WORDS = 2 * BITS;
// Of W.
struct Stored {
  const unsigned char *w, *scales, *biases;
};
struct Size {
  int N, K;
};
// Sums are of weights divided by this: affine scales below 2^26 and E4M3 scales stay finite.
constexpr float UNSCALE = MODE == AFFINE ? (HALF ? 1 : 0x1p32f)
                          : MODE == NVFP4 ? (HALF ? 0x1p7f : 0x1p8f)
                                          : 1;

__device__ __forceinline__ unsigned times(unsigned a, unsigned b) {
  return HALF ? multiply_2f16(a, b) : multiply_2bf16(a, b);
}
__device__ __forceinline__ unsigned times_plus(unsigned a, unsigned b, unsigned c) {
  return HALF ? multiply_add_2f16(a, b, c) : multiply_add_2bf16(a, b, c);
}
template <int N>
__device__ __forceinline__ void multiply(float (&d)[N / 2], const unsigned* a,
                                         unsigned long long b) {
  if constexpr (HALF) wgmma<N>(d, a, b);
  else wgmma_bf16<N>(d, a, b);
}

// The low half: 2^low, the high one: 2^high, as TYPE.
__device__ constexpr unsigned powers(int low, int high) {
  return HALF ? (unsigned)(15 + low) << 10 | (unsigned)(15 + high) << 26
              : (unsigned)(127 + low) << 7 | (unsigned)(127 + high) << 23;
}

// The values of two codes: E2M1's x 2^-126 in bf16 and x 2^-14 in fp16 where scales take the rest.
// The sign comes from `top`, which has the codes on top of both halves; exponent and fraction come from
// `low`, which has them on top of the low bytes of both. The compiler can multiply instead of shifting
// to the left; a shift to the right is a logic instruction, whose pipe is busier.
__device__ __forceinline__ unsigned e2m1_pair(unsigned top, unsigned low) {
  unsigned v = (top & 0x80008000) | (HALF ? low << 5 & 0x0e000e00 : low << 2 & 0x01c001c0);
  return MODE == MXFP4 ? times(v, HALF ? powers(14, 14) : powers(126, 126)) : v;
}
__device__ __forceinline__ unsigned e4m3_pair(unsigned top, unsigned low) {
  unsigned v = (top & 0x80008000) | (HALF ? low << 7 & 0x3f803f80 : low << 4 & 0x07f007f0);
  return times(v, HALF ? powers(8, 8) : powers(120, 120));
}

// The values of the two E2M1 codes of byte c of `word`, by the selector 0x1100 * c + 0x11 * (c + 4): both bytes
// of each half of v have its code at the top.
__device__ __forceinline__ unsigned e2m1_of(unsigned word, unsigned selector) {
  unsigned v = __byte_perm(word, word << 4, selector);
  return e2m1_pair(v, v);
}

// The table has the pair of each byte of E2M1 codes 32 times, so that each lane reads a bank of its own,
// whatever its codes. An entry takes 256 bytes, of which 128 are used: the byte of codes is then a byte of the
// entry's address, and a permutation makes the address.
constexpr int ENTRY = 256, TABLE_BYTES = TABLE ? 256 * ENTRY : 0;
// Octets of each four that are looked up. Logic decodes the others: loads go to another pipe.
constexpr int LOOKED_UP = !TABLE ? 0 : MODE == NVFP4 ? 2 : 3;
// Fills the table, by `threads` threads. The block must meet before it is read.
__device__ __forceinline__ void fill_table(unsigned table, int threads) {
#pragma unroll 1
  for (int i = threadIdx.x; i < 256 * 8; i += threads) {
    unsigned v = e2m1_of(i / 8, MUTANT(warpgroup_same_code) ? 0x4444 : 0x0044);
    store_shared(table + i / 8 * ENTRY + i % 8 * 16, uint4{v, v, v, v});
  }
}

// What depends on the lane alone.
struct Selector {
  unsigned table, own;   // addresses: of the table, and of the lane's pair from an entry's start on
  unsigned entry;        // selects `own` + ENTRY * (byte c of a word)
  unsigned bytes;        // of the two words that have the eight weights, from a word's start on
  unsigned shift, mask;  // where the codes are in them
  unsigned gain;         // what brings both codes to the same power of two
  unsigned down;         // fp16: what 1024 in front of the codes becomes by that
  __device__ explicit Selector(unsigned table) : table(table) {
    own = threadIdx.x % 32 * 4;
    unsigned c = threadIdx.x % 4, first = 2 * BITS * c, at = first / 8;
    // Of 5 and 6 bits the second code, and the first one by 8 - BITS above that, from where it is in
    // its byte or the one before.
    constexpr bool WIDE = BITS == 5 || BITS == 6;
    shift = MUTANT(warpgroup_no_lane_shift) ? 0 : (WIDE ? first + BITS : first) % 8;
    entry = 0x7604 | (MUTANT(warpgroup_same_entry) ? 0 : c << 4);
    // Codes stay at the places where they are if bf16 is linear up to there.
    int low = BITS == 2 ? shift : WIDE ? 8 - BITS : 0, high = BITS <= 4 ? low + BITS : 0;
    mask = CODE << low | CODE << high << 16;
    gain = HALF ? powers(-low, -high) : powers(101 - low, 101 - high);
    down = 0x80008000 | powers(10 - low, 10 - high);
    unsigned next = (first + BITS) / 8;
    if (WIDE)
      bytes = (next > at ? at * 0x11 + 0x10 : at * 0x11) | next << 8 |
              (next + 1 < BITS ? next + 1 : next) << 12;
    else if (MODE == AFFINE)
      bytes = BITS == 8 ? at | (at + 1) << 8 : at * 0x1111 + (BITS == 3 ? 0x1010 : 0);
    else if (BITS == 8 && HALF) bytes = at * 0x11 + 0x10;  // converted at once
    // Both bytes of a half have its code. E2M1: the second code is at the top of its byte, the first one is
    // brought there.
    else bytes = BITS == 4 ? (c + 4) * 0x11 | c * 0x1100 : at * 0x11 | (at + 1) * 0x1100;
  }
  static constexpr unsigned CODE = (1 << BITS) - 1;
};

// The scales of one row for one octet of weights, as `weights` takes them.
struct Factor {
  unsigned scale, bias;
};

// 2^(code - 127), twice. TYPE rounds it to infinity or to 0 where it has no such number.
__device__ __forceinline__ unsigned e8m0_twice(unsigned code) {
  if constexpr (HALF) {
    float x = decode_e8m0(code);
    return f32_to_2f16(x, x);
  }
  unsigned bits = code << 7 | (code == 0 || code == 255 ? 0x40 : 0);
  return bits | bits << 16;
}
// The scales of N codes, each twice.
template <int N>
__device__ __forceinline__ void scales_twice(unsigned codes, unsigned (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) {
    if constexpr (MODE == NVFP4) {
      unsigned both = e4m3_to_2f16(codes >> i / 2 * 16);
      if constexpr (HALF) {
        v[i] = times(__byte_perm(both, 0, i % 2 ? 0x3232 : 0x1010), powers(7, 7));
      } else {
        float x = f16_to_f32(both >> i % 2 * 16) * 0x1p118f;
        v[i] = f32_to_2bf16(x, x);
      }
    } else v[i] = e8m0_twice(N == 1 ? codes : codes >> i * 8 & 0xff);
  }
}
// Number `at` of the affine scales in `scales`, and of the biases.
__device__ __forceinline__ Factor factor(unsigned scales, unsigned biases, int at,
                                         const Selector& s) {
  unsigned select = at ? 0x3232 : 0x1010;
  unsigned scale = __byte_perm(scales, 0, select), bias = __byte_perm(biases, 0, select);
  if constexpr (HALF) return {scale, bias};
  return {times(scale, s.gain), times(bias, powers(-32, -32))};
}

// The lane's two weights of octet `octet` of a step whose words are `w`.
__device__ __forceinline__ unsigned weights(const unsigned (&w)[WORDS], int octet,
                                            const Selector& s, Factor f) {
  int byte = octet * BITS, word = byte / 4;
  unsigned on = byte % 4 * 0x1111, a = w[word];
  unsigned b = byte % 4 + BITS > 4 ? w[(word + 1) % WORDS] : 0;
  if constexpr (MODE == AFFINE) {
    unsigned v = __byte_perm(a, b, s.bytes + on);
    if (BITS == 3 || BITS == 5 || BITS == 6) v >>= s.shift;
    v &= s.mask;
    if constexpr (HALF) v = times_plus(v | 0x64006400, s.gain, s.down);
    return times_plus(v, f.scale, f.bias);
  } else if constexpr (BITS == 4) {
    if (octet % 4 >= LOOKED_UP) return times(e2m1_of(a, s.bytes), f.scale);
    return times(load_shared_u32_movable(s.table + __byte_perm(a, s.own, s.entry)), f.scale);
  } else {
    unsigned v = __byte_perm(a, b, s.bytes + on);
    return times(HALF ? e4m3_to_2f16(v) : e4m3_pair(v, v), f.scale);
  }
}

#endif
