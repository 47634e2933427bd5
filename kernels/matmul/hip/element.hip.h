// Element types under the names that -DTYPE gives them, and what is done to a sum at the end.
#ifndef MNKBENCH_ELEMENT_HIP
#define MNKBENCH_ELEMENT_HIP
#include "../../device/gfx.h"

struct alignas(2) bf16 { unsigned short bits; };
struct alignas(2) f16 { unsigned short bits; };
using f32 = float;

DEVICE float widen(bf16 x) { return __builtin_bit_cast(float, (unsigned)x.bits << 16); }
DEVICE float widen(f16 x) { return f16_to_f32(x.bits); }
DEVICE float widen(f32 x) { return x; }

// To nearest, ties to even; CDNA 3 has no instruction for it.
DEVICE void narrow(float x, bf16& y) {
  unsigned bits = __builtin_bit_cast(unsigned, x);
  y.bits = x != x ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
DEVICE void narrow(float x, f16& y) { y.bits = f32_to_f16(x); }
DEVICE void narrow(float x, f32& y) { y = x; }

// NaN stays NaN: a part that was never written must show.
DEVICE float epilogue(float sum, float bias, int relu) {
  float x = sum + bias;
  return relu && x < 0 ? 0 : x;
}

// `W` elements that one load or store moves.
template <class T, int W>
struct alignas(sizeof(T) * W) Pack { T at[W]; };

template <class T, int W>
DEVICE bool fits(const T* p, int left) {
  return left >= W && (unsigned long long)p % (sizeof(T) * W) == 0;
}

// The `W` elements at `p`, of which `left` may be touched; the rest are 0.
template <int W, class T>
DEVICE Pack<T, W> load(const T* p, int left) {
  if (fits<T, W>(p, left)) return *(const Pack<T, W>*)p;
  Pack<T, W> x = {};
  for (int i = 0; i < W; i++)
    if (i < left) x.at[i] = p[i];
  return x;
}

template <class T, int W>
DEVICE void store(T* p, const Pack<T, W>& x, int left) {
  if (fits<T, W>(p, left)) {
    *(Pack<T, W>*)p = x;
  } else {
    for (int i = 0; i < W; i++)
      if (i < left) p[i] = x.at[i];
  }
}

// Adds two neighbours in memory, whoever else does.
DEVICE void agent_add_pair(bf16* p, Pack<bf16, 2> x) {
  agent_add_2bf16((unsigned*)p, __builtin_bit_cast(unsigned, x));
}
DEVICE void agent_add_pair(f16* p, Pack<f16, 2> x) {
  agent_add_2f16((unsigned*)p, __builtin_bit_cast(unsigned, x));
}

DEVICE float sum_lanes(float x, int apart) {
  return x + __builtin_bit_cast(float, lane_xor(__builtin_bit_cast(unsigned, x), apart));
}

#endif
