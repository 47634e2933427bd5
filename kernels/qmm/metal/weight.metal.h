// Stored weights, for Metal: where they lie, and what each stands for.
//
// Compile-time: TYPE (of x, y, and affine scales and biases), MODE (AFFINE, MXFP4, MXFP8, NVFP4),
// BITS, GROUP, and CHANNEL: 1 where a row has one scale, of which GROUP is a part. Formats are those of bench/formats/formats.h, without subnormal fp32 numbers in
// between, which Apple's GPUs take for 0.
#ifndef MNKBENCH_QMM_WEIGHT_METAL
#define MNKBENCH_QMM_WEIGHT_METAL
#include "../../common/mutant.h"
#include "../../device/msl.h"

#ifndef CHANNEL
#define CHANNEL 0
#endif

enum { AFFINE, MXFP4, MXFP8, NVFP4, MASK = (1 << BITS) - 1 };

#if AFFINE_MODE
typedef TYPE SCALE;
#else
typedef uchar SCALE;
#endif

DEVICE float from_e4m3(uint code) {
  uint magnitude = code & 0x7f;
  float x = magnitude < 8 ? float(magnitude) * 0.001953125f : as_type<float>((magnitude << 20) + 0x3c000000);
  if (magnitude == 0x7f) x = as_type<float>(0x7fc00000u);
  return code & 0x80 ? -x : x;
}
// Twice the magnitudes are 0, 1, 2, 3, 4, 6, 8 and 12.
DEVICE float from_e2m1(uint code) {
  float x = float(0xc8643210u >> (code & 7) * 4 & 15) * 0.5f;
  return code & 8 && !MUTANT(metal_weight_no_sign) ? -x : x;
}
DEVICE float from_e8m0(uint code) {
  uint exponent = (code ^ MUTANT(metal_weight_wrong_exponent)) << 23;
  return as_type<float>(code == 255 ? 0x7fc00000u : code ? exponent : 0x00400000u);
}

#if AFFINE_MODE
DEVICE float scale_of(SCALE s) { return float(s); }
#else
DEVICE float scale_of(SCALE s) { return MODE == NVFP4 ? from_e4m3(s) : from_e8m0(s); }
#endif
// What a code stands for but for its group's scale and bias.
DEVICE float value_of(uint code) {
  return MODE == AFFINE ? float(code) : MODE == MXFP8 ? from_e4m3(code) : from_e2m1(code);
}

// Code `i` of 16-bit words, the least significant first.
DEVICE uint code_in(thread const ushort *words, int i) {
  int bit = i * BITS, word = bit / 16, shift = bit % 16;
  uint code = uint(words[word]) >> shift;
  if (shift + BITS > 16 && !MUTANT(metal_weight_one_word)) code |= uint(words[word + 1]) << (16 - shift);
  return code & MASK;
}

// Eight codes are BITS bytes: loaded as widely as their address allows.
struct Eight {
  uint low, high;
};
DEVICE Eight load_eight(device const uchar *p) {
  Eight e = {0, 0};
  if (BITS == 2) {
    e.low = *(device const ushort *)p;
  } else if (BITS == 4) {
    e.low = *(device const uint *)p;
  } else if (BITS == 6) {
    device const ushort *q = (device const ushort *)p;
    e.low = q[0] | uint(q[1]) << 16;
    e.high = q[2];
  } else if (BITS == 8) {
    e.low = *(device const uint *)p;
    e.high = *(device const uint *)(p + 4);
  } else {
    e.low = p[0] | uint(p[1]) << 8 | uint(p[2]) << 16;
    if (BITS == 5) {
      e.low |= uint(p[3]) << 24;
      e.high = p[4];
    }
  }
  return e;
}
DEVICE uint code_of(Eight e, int i) {
  int bit = i * BITS;
  if (bit >= 32) return e.high >> (bit - 32) & MASK;
  uint code = e.low >> bit;
  if (bit + BITS > 32) code |= e.high << (32 - bit);
  return code & MASK;
}

#endif
