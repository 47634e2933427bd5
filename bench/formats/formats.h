/* The formats of this folder for C and for CUDA: the same code, so the same bits.
 *
 * All arithmetic is fp32 with IEEE rounding: no fast-math, no flushed subnormals.
 */
#ifndef FORMATS_H
#define FORMATS_H

#ifdef __CUDACC__
#define FORMAT_FN static __device__ __forceinline__
#else
#include <math.h>
#define FORMAT_FN static inline __attribute__((unused))
#endif

enum { AFFINE, MXFP4, MXFP8, NVFP4 }; /* Modes, as the caller numbers them. */

#define MAX_GROUP 128

FORMAT_FN float bits_as_float(unsigned bits) {
  union { unsigned bits; float x; } u;
  u.bits = bits;
  return u.x;
}

FORMAT_FN unsigned float_as_bits(float x) {
  union { unsigned bits; float x; } u;
  u.x = x;
  return u.bits;
}

/* E8M0: the exponent field of a float, but for 0, which is subnormal, and for NaN. */
FORMAT_FN float decode_e8m0(unsigned code) {
  return bits_as_float(code == 255 ? 0x7fc00000 : code ? code << 23 : 0x00400000);
}

/* round(log2 x), exactly: up from the first float over sqrt(2) times a power of two. */
FORMAT_FN unsigned encode_e8m0(float x) {
  unsigned bits = float_as_bits(x);
  if (bits >= 0x7f800000) return bits == 0x80000000 ? 0 : 255; /* infinite, NaN, negative */
  if (bits < 0x00800000) return bits >= 0x5a827a; /* subnormal: over 2^-126.5 or not */
  unsigned code = (bits >> 23) + ((bits & 0x7fffff) >= 0x3504f4);
  return code > 254 ? 254 : code;
}

/* The least power of two that is not below x: cuBLAS's rule. */
FORMAT_FN unsigned encode_e8m0_up(float x) {
  unsigned bits = float_as_bits(x);
  if (bits >= 0x7f800000) return bits == 0x80000000 ? 0 : 255;
  if (bits < 0x00800000) return bits > 0x400000; /* over 2^-127 or not */
  unsigned code = (bits >> 23) + ((bits & 0x7fffff) != 0);
  return code > 254 ? 254 : code;
}

/* E4M3: 2^120 moves the exponent's bias from 127 to 7, subnormals included. */
FORMAT_FN float decode_e4m3(unsigned code) {
  float x = bits_as_float((code & 0x7f) << 20) * 0x1p120f;
  if ((code & 0x7f) == 0x7f) x = bits_as_float(0x7fc00000);
  return bits_as_float(float_as_bits(x) | (code & 0x80) << 24);
}

/* To nearest even, saturated; NaN to 0x7f. */
FORMAT_FN unsigned encode_e4m3(float x) {
  unsigned bits = float_as_bits(x), sign = bits >> 24 & 0x80;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return 0x7f;
  if (bits >= 0x43e00000) return sign | 0x7e; /* 448 */
  if (bits < 0x3c800000) /* below 2^-6: 2^14 has 2^-9 for its last bit */
    return sign | (float_as_bits(bits_as_float(bits) + 0x1p14f) - 0x46800000);
  return sign | (bits + 0x7ffff + (bits >> 20 & 1) - 0x3c000000) >> 20;
}

/* E2M1: 2^126 moves the exponent's bias from 127 to 1. */
FORMAT_FN float decode_e2m1(unsigned code) {
  float x = bits_as_float((code & 7) << 22) * 0x1p126f;
  return bits_as_float(float_as_bits(x) | (code & 8) << 28);
}

/* To nearest even, saturated; NaN to 7. */
FORMAT_FN unsigned encode_e2m1(float x) {
  unsigned sign = float_as_bits(x) >> 28 & 8;
  float m = bits_as_float(float_as_bits(x) & 0x7fffffff);
  if (m != m) return 7;
  return sign | (m > 5 ? 7 : m >= 3.5f ? 6 : m > 2.5f ? 5 : m >= 1.75f ? 4
                 : m > 1.25f ? 3 : m >= 0.75f ? 2 : m > 0.25f ? 1 : 0);
}

/* The scale behind the byte `code` of a mode that has no biases. */
FORMAT_FN float decode_scale(int mode, unsigned code) {
  return mode == NVFP4 ? decode_e4m3(code) : decode_e8m0(code);
}

/* scale * code + bias, rounded once. The product of a 16-bit scale and a code of 8 bits is
 * exact wherever it does not overflow fp32, so there two roundings are one as well. */
FORMAT_FN float decode_affine(unsigned code, float scale, float bias) {
#ifdef __CUDACC__
  return fmaf(scale, (float)code, bias);
#else
  return (float)((double)scale * code + bias); /* not every CPU has an fma */
#endif
}

/* What `code` stands for; `bias` counts in affine mode only. */
FORMAT_FN float decode_code(int mode, unsigned code, float scale, float bias) {
  if (mode == AFFINE) return decode_affine(code, scale, bias);
  return scale * (mode == MXFP8 ? decode_e4m3(code) : decode_e2m1(code));
}

/* Code `i` of a stream of `bits` bits each, the least significant first. Reads no word in
 * which it has no bit. */
FORMAT_FN unsigned code_at(const unsigned *words, int bits, long long i) {
  long long first = i * bits;
  int shift = (int)(first & 31);
  const unsigned *word = words + (first >> 5);
  unsigned code = *word >> shift;
  if (shift + bits > 32) code |= word[1] << (32 - shift);
  return code & ((1u << bits) - 1);
}

/* Appends code `i` to words that were 0. */
FORMAT_FN void put_code(unsigned *words, int bits, int i, unsigned code) {
  int first = i * bits, shift = first & 31;
  words[first >> 5] |= code << shift;
  if (shift + bits > 32) words[(first >> 5) + 1] |= code >> (32 - shift);
}

/* Affine codes of a group, into words that were 0; see affine.ts. */
FORMAT_FN void quantise_affine(const float *w, int bits, int group, unsigned *words,
                               float *scale, float *bias) {
  const float last = (float)((1 << bits) - 1), infinity = bits_as_float(0x7f800000);
  float least = infinity, most = -infinity;
  for (int i = 0; i < group; i++) {
    if (w[i] < least) least = w[i];
    if (w[i] > most) most = w[i];
  }
  float range = (most - least) / last, step = range > 1e-7f ? range : 1e-7f;
  int low = fabsf(least) > fabsf(most);
  float edge = low ? least : most, s = low ? step : -step, b = 0;
  float steps = rintf(edge / s);
  if (steps != 0) {
    s = edge / steps;
    b = edge;
  }
  for (int i = 0; i < group; i++) {
    float code = rintf((w[i] - b) / s);
    put_code(words, bits, i, (unsigned)(code < last ? code : last));
  }
  *scale = s;
  *bias = b;
}

/* Codes of a group of mode MXFP4, MXFP8 or NVFP4, into words that were 0; returns the
 * scale's; see microscale.ts. */
FORMAT_FN unsigned quantise_microscale(const float *w, int mode, int group, unsigned *words) {
  float most = 0;
  for (int i = 0; i < group; i++)
    if (fabsf(w[i]) > most) most = fabsf(w[i]);
  float s = most / (mode == MXFP8 ? 448.0f : 6.0f);
  unsigned code = mode == NVFP4 ? encode_e4m3(s) : encode_e8m0(s);
  float scale = decode_scale(mode, code);
  for (int i = 0; i < group; i++) {
    float x = w[i] / scale;
    unsigned element = scale == 0 ? 0 : mode == MXFP8 ? encode_e4m3(x) : encode_e2m1(x);
    put_code(words, mode == MXFP8 ? 8 : 4, i, element);
  }
  return code;
}

/* Where a scale lies in the blocked layout of tensor cores; see blocked_scales.ts. */
FORMAT_FN long long blocked_offset(int row, int col, int cols) {
  long long tile = (long long)(row / 128) * ((cols + 3) / 4) + col / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + col % 4;
}

#endif
