// Conversions of floats by their bits, since not every compiler has the narrow types. To nearest,
// ties to even.
#ifndef EMULATOR_FLOATS_H
#define EMULATOR_FLOATS_H
#include <math.h>
#include <string.h>

#include <utility>

#include "../emulator.h"

// The emulator's own accesses are not a lane's.
#define HIDDEN __attribute__((no_sanitize("thread"), noinline))

HIDDEN inline float emu_float(unsigned bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
HIDDEN inline unsigned emu_bits(float x) {
  unsigned bits;
  memcpy(&bits, &x, 4);
  return bits;
}

HIDDEN inline float emu_from_f16(unsigned short h) {
  unsigned sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, part = h & 0x3ff;
  if (exponent == 31) return emu_float(sign | 0x7f800000 | part << 13);
  if (exponent) return emu_float(sign | (exponent + 112) << 23 | part << 13);
  float x = part * 0x1p-24f;
  return sign ? -x : x;
}
HIDDEN inline unsigned short emu_to_f16(float x) {
  unsigned bits = emu_bits(x), sign = bits >> 16 & 0x8000, value = bits & 0x7fffffff;
  if (value > 0x7f800000) return sign | 0x7e00;
  if (value >= 0x477ff000) return sign | 0x7c00;
  // Subnormal: the sum rounds where the format does.
  if (value < 0x38800000) return sign | (emu_bits(emu_float(value) + 0.5f) - 0x3f000000);
  return sign | (value + 0xfff + (value >> 13 & 1) - 0x38000000) >> 13;
}
HIDDEN inline float emu_from_bf16(unsigned short h) { return emu_float((unsigned)h << 16); }
HIDDEN inline unsigned short emu_to_bf16(float x) {
  unsigned bits = emu_bits(x);
  return x != x ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// Products rounded once: the exact product of two f16 fits an fp32.
HIDDEN inline unsigned short emu_multiply_f16(unsigned short a, unsigned short b) {
  return emu_to_f16(emu_from_f16(a) * emu_from_f16(b));
}
// The product of two bf16 does too, unless it is too small.
HIDDEN inline unsigned short emu_multiply_bf16(unsigned short a, unsigned short b) {
  const double x = (double)emu_from_bf16(a) * emu_from_bf16(b), size = fabs(x);
  if (!(size < 0x1p-126)) return emu_to_bf16((float)x);
  // 2^52 has 1 for its last bit.
  return (unsigned)(size * 0x1p133 + 0x1p52 - 0x1p52) | (signbit(x) ? 0x8000 : 0);
}
// Rounds to odd, so that the float rounds to fewer bits as `x` itself does.
HIDDEN inline float emu_odd(double x) {
  const float y = (float)x;
  if (y != y || (double)y == x || emu_bits(y) & 1) return y;
  return emu_float(emu_bits(y) + (fabs((double)y) < fabs(x) ? 1 : -1));
}
// 4 bits of exponent, 3 of fraction, no infinity.
HIDDEN inline unsigned short emu_e4m3_to_f16(unsigned char code) {
  unsigned sign = (code & 0x80u) << 8, value = code & 0x7f;
  if (value == 0x7f) return sign | 0x7fff;
  // The fields as f16's are the value x 2^-8.
  return sign | emu_to_f16(emu_from_f16(value << 7) * 256);
}
// To 8 bits with a sign and FRACTION bits of fraction; what is larger becomes LARGEST.
template <int FRACTION, int BIAS, unsigned char LARGEST> HIDDEN unsigned char emu_to_f8(float x) {
  const unsigned sign = emu_bits(x) >> 24 & 0x80, shift = 23 - FRACTION;
  if (x != x) return sign | 0x7f;
  const float size = fabsf(x);
  unsigned value = emu_bits(size);
  // 2^23 has 1 for its last bit.
  if (size < ldexpf(1, 1 - BIAS)) value = (unsigned)(ldexpf(size, BIAS - 1 + FRACTION) + 0x1p23f - 0x1p23f);
  else value = (value + (1u << (shift - 1)) - 1 + (value >> shift & 1)) >> shift, value -= (127 - BIAS) << FRACTION;
  return sign | (value > LARGEST ? LARGEST : value);
}

// Starts a kernel whose parameters a driver has as an array of pointers to values: they
// are copied out of it.
template <class T> struct EmuEntry;
template <class... A> struct EmuEntry<void(A...)> {
  static constexpr unsigned SIZES[] = {sizeof(A)..., 0};
  template <void (*F)(A...), int... I> HIDDEN static void unpack(void **p, std::integer_sequence<int, I...>) {
    F(*(A *)p[I]...);
  }
  template <void (*F)(A...)> HIDDEN static void run(void **p) {
    unpack<F>(p, std::make_integer_sequence<int, sizeof...(A)>());
  }
};
#define EMU_ENTRY(NAME, THREADS)                                                               \
  extern "C" __attribute__((visibility("default"))) const EmuKernel emu_kernel_##NAME = {             \
      &EmuEntry<decltype(NAME)>::run<NAME>, EmuEntry<decltype(NAME)>::SIZES, THREADS, EMU_WAVE, EMU_QUEUES};

#endif
