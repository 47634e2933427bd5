// A column-major product of hipDataTypes, as the mock matrix libraries of ROCm compute it.
#pragma once
#include <stdint.h>
#include <string.h>

typedef uint64_t u64;
enum { HIP_F32 = 0, HIP_F16 = 2, HIP_BF16 = 14, OP_N = 111, OP_T = 112 };

static inline float from_half(uint16_t h) {
  uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, bits;
  if (!exponent) return (sign ? -1 : 1) * (h & 0x3ff) * 0x1p-24f;
  bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | (h & 0x3ffu) << 13;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
static inline float read_at(const void *p, int type, int64_t i) {
  if (type == HIP_F32) return ((const float *)p)[i];
  uint16_t h = ((const uint16_t *)p)[i];
  if (type == HIP_F16) return from_half(h);
  uint32_t bits = (uint32_t)h << 16;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
static inline void write_at(void *p, int type, int64_t i, float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (type == HIP_F32) ((float *)p)[i] = x;
  else if (type == HIP_BF16) ((uint16_t *)p)[i] = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  else {
    // The two halves on either side are tried: this is a mock, not a fast conversion.
    uint16_t low = 0, sign = bits >> 16 & 0x8000;
    float size = x < 0 ? -x : x;
    for (int bit = 14; bit >= 0; bit--)
      if (from_half(low | 1 << bit) <= size && (low | 1 << bit) < 0x7c00) low |= 1 << bit;
    float under = size - from_half(low), over = from_half(low + 1) - size;
    ((uint16_t *)p)[i] = sign | (low + (over < under || (over == under && low & 1)));
  }
}

typedef struct {
  int ta, tb, m, n, k, lda, ldb, ldc, at, bt, ct, epilogue;
  const void *a, *b, *bias;
  void *c;
} Product;
// Epilogues are hipblasLtEpilogue_t's: 2 relu, 4 a bias a row, 6 both.
static inline double finished(Product p, int row, double sum) {
  if (p.epilogue & 4) sum += read_at(p.bias, p.ct, row);
  return p.epilogue & 2 && sum < 0 ? 0 : sum;
}
static inline void column_major(Product p) {
  for (int i = 0; i < p.m; i++)
    for (int j = 0; j < p.n; j++) {
      double sum = 0;
      for (int l = 0; l < p.k; l++)
        sum += (double)read_at(p.a, p.at, p.ta == OP_T ? l + (int64_t)i * p.lda : i + (int64_t)l * p.lda) *
               read_at(p.b, p.bt, p.tb == OP_T ? j + (int64_t)l * p.ldb : l + (int64_t)j * p.ldb);
      write_at(p.c, p.ct, i + (int64_t)j * p.ldc, finished(p, i, sum));
    }
}
