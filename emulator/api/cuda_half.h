// The 16-bit floats of cuda_fp16.h and cuda_bf16.h for the lane emulator. Results are rounded once.
#ifndef EMULATOR_CUDA_HALF_H
#define EMULATOR_CUDA_HALF_H
#include "cuda.h"

// Members are inlined, so that reading an operand is an access of the lane.
template <float (*WIDEN)(unsigned short), unsigned short (*NARROW)(float)> struct __align__(2) EmuHalf {
  unsigned short bits;
  EmuHalf() = default;
  DEVICE EmuHalf(float x) : bits(NARROW(x)) {}
  DEVICE EmuHalf(double x) : bits(NARROW(emu_odd(x))) {}
  DEVICE EmuHalf(int x) : bits(NARROW(emu_odd(x))) {}
  DEVICE EmuHalf(unsigned x) : bits(NARROW(emu_odd(x))) {}
  DEVICE operator float() const { return WIDEN(bits); }
  DEVICE EmuHalf &operator+=(EmuHalf b) { return *this = *this + b; }
  DEVICE EmuHalf &operator-=(EmuHalf b) { return *this = *this - b; }
  DEVICE EmuHalf &operator*=(EmuHalf b) { return *this = *this * b; }
  DEVICE EmuHalf &operator/=(EmuHalf b) { return *this = *this / b; }
  DEVICE EmuHalf operator-() const { return of(bits ^ 0x8000); }
  DEVICE static EmuHalf of(unsigned short bits) {
    EmuHalf x;
    x.bits = bits;
    return x;
  }
  friend DEVICE EmuHalf operator+(EmuHalf a, EmuHalf b) { return (double)(float)a + (float)b; }
  friend DEVICE EmuHalf operator-(EmuHalf a, EmuHalf b) { return (double)(float)a - (float)b; }
  friend DEVICE EmuHalf operator*(EmuHalf a, EmuHalf b) { return (double)(float)a * (float)b; }
  friend DEVICE EmuHalf operator/(EmuHalf a, EmuHalf b) { return (double)(float)a / (float)b; }
  friend DEVICE bool operator==(EmuHalf a, EmuHalf b) { return (float)a == (float)b; }
  friend DEVICE bool operator!=(EmuHalf a, EmuHalf b) { return (float)a != (float)b; }
  friend DEVICE bool operator<(EmuHalf a, EmuHalf b) { return (float)a < (float)b; }
  friend DEVICE bool operator>(EmuHalf a, EmuHalf b) { return (float)a > (float)b; }
  friend DEVICE bool operator<=(EmuHalf a, EmuHalf b) { return (float)a <= (float)b; }
  friend DEVICE bool operator>=(EmuHalf a, EmuHalf b) { return (float)a >= (float)b; }

  friend DEVICE EmuHalf __hadd(EmuHalf a, EmuHalf b) { return a + b; }
  friend DEVICE EmuHalf __hsub(EmuHalf a, EmuHalf b) { return a - b; }
  friend DEVICE EmuHalf __hmul(EmuHalf a, EmuHalf b) { return a * b; }
  friend DEVICE EmuHalf __hdiv(EmuHalf a, EmuHalf b) { return a / b; }
  friend DEVICE EmuHalf __hfma(EmuHalf a, EmuHalf b, EmuHalf c) { return (double)(float)a * (float)b + (float)c; }
  friend DEVICE EmuHalf __hneg(EmuHalf a) { return -a; }
  friend DEVICE EmuHalf __habs(EmuHalf a) { return of(a.bits & 0x7fff); }
  friend DEVICE EmuHalf __hmax(EmuHalf a, EmuHalf b) { return fmaxf(a, b); }
  friend DEVICE EmuHalf __hmin(EmuHalf a, EmuHalf b) { return fminf(a, b); }
  friend DEVICE bool __hisnan(EmuHalf a) { return (float)a != (float)a; }
};
// Two of them; the first is in the lower half.
template <class T> struct __align__(4) EmuHalves {
  T x, y;
  EmuHalves() = default;
  DEVICE EmuHalves(T x, T y) : x(x), y(y) {}
  friend DEVICE EmuHalves operator+(EmuHalves a, EmuHalves b) { return {a.x + b.x, a.y + b.y}; }
  friend DEVICE EmuHalves operator-(EmuHalves a, EmuHalves b) { return {a.x - b.x, a.y - b.y}; }
  friend DEVICE EmuHalves operator*(EmuHalves a, EmuHalves b) { return {a.x * b.x, a.y * b.y}; }
  friend DEVICE EmuHalves __hadd2(EmuHalves a, EmuHalves b) { return a + b; }
  friend DEVICE EmuHalves __hsub2(EmuHalves a, EmuHalves b) { return a - b; }
  friend DEVICE EmuHalves __hmul2(EmuHalves a, EmuHalves b) { return a * b; }
  friend DEVICE EmuHalves __hfma2(EmuHalves a, EmuHalves b, EmuHalves c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
  }
  friend DEVICE EmuHalves __hmax2(EmuHalves a, EmuHalves b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
  friend DEVICE EmuHalves __hmin2(EmuHalves a, EmuHalves b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
  friend DEVICE float __low2float(EmuHalves a) { return a.x; }
  friend DEVICE float __high2float(EmuHalves a) { return a.y; }
};
// The functions that have the type's name (WORD: half or bfloat16) in theirs.
#define EMU_HALF_FUNCTIONS(T, PAIR, WORD)                                                          \
  DEVICE T __float2##WORD(float x) { return x; }                                                   \
  DEVICE T __float2##WORD##_rn(float x) { return x; }                                              \
  DEVICE T __double2##WORD(double x) { return x; }                                                 \
  DEVICE T __int2##WORD##_rn(int x) { return x; }                                                  \
  DEVICE T __ushort_as_##WORD(unsigned short x) { return T::of(x); }                               \
  DEVICE unsigned short __##WORD##_as_ushort(T x) { return x.bits; }                               \
  DEVICE float __##WORD##2float(T x) { return x; }                                                 \
  DEVICE PAIR __halves2##WORD##2(T x, T y) { return {x, y}; }                                      \
  DEVICE PAIR __##WORD##2##WORD##2(T x) { return {x, x}; }                                         \
  DEVICE T __low2##WORD(PAIR x) { return x.x; }                                                    \
  DEVICE T __high2##WORD(PAIR x) { return x.y; }                                                   \
  DEVICE PAIR __float2##WORD##2_rn(float x) { return {T(x), T(x)}; }                               \
  DEVICE PAIR __floats2##WORD##2_rn(float x, float y) { return {T(x), T(y)}; }                     \
  DEVICE PAIR __float22##WORD##2_rn(float2 x) { return {T(x.x), T(x.y)}; }                         \
  DEVICE float2 __##WORD##22float2(PAIR x) { return {x.x, x.y}; }                                  \
  HIDDEN inline T atomicAdd(T *p, T x) { return emu_add_half(p, x); }

// The sum is formed from bits: the members above belong to what is looked at.
template <float (*WIDEN)(unsigned short), unsigned short (*NARROW)(float)>
HIDDEN EmuHalf<WIDEN, NARROW> emu_add_half(EmuHalf<WIDEN, NARROW> *p, EmuHalf<WIDEN, NARROW> x) {
  auto bits = (unsigned short *)p;
  const unsigned short more = *(unsigned short *)&x;
  unsigned short before = emu_atomic(bits, [=](unsigned short y) __attribute__((no_sanitize("thread"))) {
    return NARROW(WIDEN(y) + WIDEN(more));
  });
  memcpy(&x, &before, sizeof before);
  return x;
}

#endif
