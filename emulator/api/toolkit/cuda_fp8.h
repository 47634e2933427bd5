// CUDA's header of this name for the lane emulator: the two types as scalars.
#pragma once
#include "../cuda.h"

typedef unsigned char __nv_fp8_storage_t;

HIDDEN inline float emu_from_e4m3(unsigned char code) { return emu_from_f16(emu_e4m3_to_f16(code)); }
HIDDEN inline float emu_from_e5m2(unsigned char code) { return emu_from_f16(code << 8); }

template <float (*WIDEN)(unsigned char), unsigned char (*NARROW)(float)> struct EmuF8 {
  __nv_fp8_storage_t __x;
  EmuF8() = default;
  explicit DEVICE EmuF8(float x) : __x(NARROW(x)) {}
  explicit DEVICE operator float() const { return WIDEN(__x); }
};
typedef EmuF8<emu_from_e4m3, emu_to_f8<3, 7, 0x7e>> __nv_fp8_e4m3;
typedef EmuF8<emu_from_e5m2, emu_to_f8<2, 15, 0x7b>> __nv_fp8_e5m2;
