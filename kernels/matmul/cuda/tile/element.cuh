// Element types under the names that -DTYPE gives them, and what is done to a sum at the end.
// No CUDA header is needed, so NVRTC compiles this without an include path to a toolkit.
#ifndef MNKBENCH_ELEMENT
#define MNKBENCH_ELEMENT
#include "../../../device/ptx_mma.h"

struct alignas(2) bf16 { unsigned short bits; };
struct alignas(2) f16 { unsigned short bits; };
using f32 = float;

__device__ inline float widen(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }
__device__ inline float widen(f16 x) { return f16_to_f32(x.bits); }
__device__ inline float widen(f32 x) { return x; }

__device__ inline void narrow(float x, bf16& y) { f32_to_bf16(x, y.bits); }
__device__ inline void narrow(float x, f16& y) { f32_to_f16(x, y.bits); }
__device__ inline void narrow(float x, f32& y) { y = x; }

// Where an epilogue cuts sums off: at 0, or nowhere.
__device__ inline float leastOf(int relu) { return relu ? 0 : __uint_as_float(0xff800000); }
// NaN stays NaN (fmaxf would return 0): a part that was never written must show.
__device__ inline float epilogue(float sum, float bias, float least) {
  float x = sum + bias;
  return x < least ? least : x;
}

// `W` elements that one load or store moves.
template <class T, int W>
struct alignas(sizeof(T) * W) Pack { T at[W]; };

template <class T, int W>
__device__ inline bool fits(const T* p, int left) {
  return left >= W && (unsigned long long)p % (sizeof(T) * W) == 0;
}

// The `W` elements at `p`, of which `left` may be touched; the rest are 0.
template <int W, class T>
__device__ inline Pack<T, W> load(const T* p, int left) {
  if (fits<T, W>(p, left)) return *(const Pack<T, W>*)p;
  Pack<T, W> x = {};
  for (int i = 0; i < W; i++)
    if (i < left) x.at[i] = p[i];
  return x;
}

template <class T, int W>
__device__ inline void store(T* p, const Pack<T, W>& x, int left) {
  if (fits<T, W>(p, left)) {
    *(Pack<T, W>*)p = x;
  } else {
    for (int i = 0; i < W; i++)
      if (i < left) p[i] = x.at[i];
  }
}

// The tensor cores' 16 x 8 x 16 product of 16-bit operands, fp32 sums:
// top += rows 0 to 7, low += rows 8 to 15.
template <class T> __device__ void mma(Pack<float, 2>& top, Pack<float, 2>& low,
                                       const unsigned (&a)[4], const unsigned* b);
template <> __device__ inline void mma<bf16>(Pack<float, 2>& top, Pack<float, 2>& low,
                                             const unsigned (&a)[4], const unsigned* b) {
  mma_bf16(top.at, low.at, a, b);
}
template <> __device__ inline void mma<f16>(Pack<float, 2>& top, Pack<float, 2>& low,
                                            const unsigned (&a)[4], const unsigned* b) {
  mma_f16(top.at, low.at, a, b);
}

#endif
