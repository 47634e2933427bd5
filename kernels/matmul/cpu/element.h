/* Operands' elements, as every C kernel of the CPU reads and writes them. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stdint.h>
#include <string.h>

enum { F32, F16, BF16 }; /* Types, as the caller numbers them. */

static inline int type_bytes(int type) { return type == F32 ? 4 : 2; }

static inline float bits_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

static inline uint32_t float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return bits;
}

static inline float from_bf16(uint16_t h) { return bits_float((uint32_t)h << 16); }

/* To nearest even; NaN stays NaN. */
static inline uint16_t to_bf16(float x) {
  uint32_t bits = float_bits(x);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (uint16_t)(x != x ? 0x7fc0 : rounded);
}

/* Exact: the exponent is moved by a multiplication, which also makes subnormals normal. */
static inline float from_f16(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16;
  float x = bits_float((uint32_t)(h & 0x7fff) << 13) * 0x1p112f;
  /* Exponent 31 stands for infinity and NaN. */
  if ((h & 0x7c00) == 0x7c00) x = bits_float(0x7f800000 | (uint32_t)(h & 0x3ff) << 13);
  return bits_float(float_bits(x) | sign);
}

/* To nearest even. Adding a power of two makes the adder round a subnormal result at the
 * last bit of f16. */
static inline uint16_t to_f16(float x) {
  uint32_t bits = float_bits(x), sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  uint32_t h;
  if (magnitude > 0x7f800000) h = 0x7e00;
  else if (magnitude >= 0x477ff000) h = 0x7c00; /* 65520 and above */
  else if (magnitude < 0x38800000) /* below 2^-14 */
    h = float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000;
  else h = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13;
  return (uint16_t)(sign | h);
}

static inline float load_float(const char *from, int type) {
  if (type == F32) return *(const float *)from;
  uint16_t h = *(const uint16_t *)from;
  return type == BF16 ? from_bf16(h) : from_f16(h);
}

static inline void store_float(char *to, int type, float x) {
  if (type == F32) *(float *)to = x;
  else *(uint16_t *)to = type == BF16 ? to_bf16(x) : to_f16(x);
}

#endif
