/* Decoding weights for one instruction set: a part of panel.h, which includes it once for
 * each set. Where the set has instructions for it, LOOKUP takes sixteen values by their
 * codes, NIBBLES makes a vector of the 4-bit codes at an address, and WIDEN one of f16.
 */
/* Eight codes of `bits` bits. Parts that are loaded apart are joined in registers: a load of
 * what was just stored in parts would wait for the stores. */
INLINE uint64_t FN(eight)(const char *from, const int bits) {
  uint32_t low = 0, high = 0;
  memcpy(&low, from, bits < 4 ? 2 : 4);
  if (bits == 3) low |= (uint32_t)(uint8_t)from[2] << 16;
  if (bits == 5) high = (uint8_t)from[4];
  if (bits == 6) memcpy(&high, from + 4, 2);
  if (bits == 8) memcpy(&high, from + 4, 4);
  return low | (uint64_t)high << 32;
}

/* What a vector of codes stands for. */
INLINE VEC FN(value)(const CODES codes, const int mode, float scale, float bias) {
  /* decode_affine but for products that overflow fp32: doubles are half as many a vector. */
  if (mode == AFFINE) return __builtin_convertvector((INTS)codes, VEC) * scale + bias;
  if (mode == MXFP8) {
    /* decode_e4m3, but subnormal codes by way of whole numbers: subnormal floats are slow. */
    const CODES magnitude = codes & 0x7f, small = (CODES)(magnitude < 8);
    const VEC low = __builtin_convertvector((INTS)magnitude, VEC) * 0x1p-9f;
    CODES value = (((magnitude << 20) + 0x3c000000) & ~small) | ((CODES)low & small);
    value |= (codes & 0x80) << 24 | ((CODES)(magnitude == 0x7f) & 0x7fc00000);
    return (VEC)value * scale;
  }
#ifdef LOOKUP
  static const float values[16] = {0,   .5f,  1,   1.5f,  2,   3,  4,  6,
                                   -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};
  return LOOKUP(values, codes) * scale;
#endif
  /* decode_e2m1, from a table of twice the magnitudes, four bits each. */
  const CODES twice = ((CODES){0} + 0xc8643210) >> ((codes & 7) << 2) & 15;
  const VEC x = __builtin_convertvector((INTS)twice, VEC);
  return (VEC)((CODES)x | (codes & 8) << 28) * (0.5f * scale);
}

#ifdef WIDEN
/* As many E4M3 numbers: seven bits further up they are f16, subnormals too, but for 2^8. */
INLINE VEC FN(e4m3)(const char *from) {
  BYTES bytes;
  memcpy(&bytes, from, sizeof bytes);
  const HALVES code = __builtin_convertvector(bytes, HALVES), magnitude = code & 0x7f;
  const HALVES nan = (HALVES)(magnitude == 0x7f) & 0x7f80;
  return (VEC)WIDEN(magnitude << 7 | (code & 0x80) << 8 | nan) * 256.0f;
}
#endif

/* Sixteen weights of a group, from codes of `bits` bits at `from`. */
INLINE void FN(sixteen)(const char *from, const int bits, const int mode, float scale, float bias,
                        float *to) {
#ifdef NIBBLES
  if (bits == 4) {
    for (int i = 0; i < 16; i += LANES)
      *(VEC *)(to + i) = FN(value)((CODES)NIBBLES(from + i / 2), mode, scale, bias);
    return;
  }
#endif
#ifdef WIDEN
  if (mode == MXFP8) {
    for (int i = 0; i < 16; i += LANES) *(VEC *)(to + i) = FN(e4m3)(from + i) * scale;
    return;
  }
#endif
  const Words shift = {0, bits, 2 * bits, 3 * bits, 4 * bits, 5 * bits, 6 * bits, 7 * bits};
  Codes8 codes[2];
  for (int half = 0; half < 2; half++) {
    const uint64_t word = FN(eight)(from + half * bits, bits);
    const Words all = {word, word, word, word, word, word, word, word};
    codes[half] = __builtin_convertvector(all >> shift & ((1u << bits) - 1), Codes8);
  }
  for (int i = 0; i < 16; i += LANES) {
    CODES some;
    memcpy(&some, (const char *)codes + 4 * i, sizeof some);
    *(VEC *)(to + i) = FN(value)(some, mode, scale, bias);
  }
}

INLINE void FN(groups)(const Weights *w, long first, const int bits, const int mode, int count,
                       float *to) {
  const char *from = (const char *)w->w + first * bits / 8;
  for (int i = 0; i < count; i += w->group) {
    const long g = (first + i) / w->group;
    const float scale = scale_of(w, g), bias = bias_of(w, g);
    for (int at = i; at < i + w->group; at += 16)
      FN(sixteen)(from + at * bits / 8, bits, mode, scale, bias, to + at);
  }
}

/* The weights of `row` from `col` on, `count` of them: whole groups. */
TARGET static void FN(decode)(const Weights *w, long row, long col, int count, float *to) {
  const long first = row * w->cols + col;
  if (w->mode == DENSE) {
    const uint16_t *half = (const uint16_t *)w->w + first;
    if (w->type == BF16)
      for (int i = 0; i < count; i++) to[i] = from_bf16(half[i]);
    else
      for (int i = 0; i < count; i++) to[i] = from_f16(half[i]);
    return;
  }
  if (w->mode == AFFINE) {
    switch (w->bits) {
#define CASE(B) case B: FN(groups)(w, first, B, AFFINE, count, to); return;
      CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(8)
#undef CASE
    }
  }
  if (w->mode == MXFP8) FN(groups)(w, first, 8, MXFP8, count, to);
  else FN(groups)(w, first, 4, NVFP4, count, to); /* what MXFP4 has other than it is scales */
}
