// CUDA's header of this name for the lane emulator.
#pragma once
#include "../cuda_half.h"

typedef EmuHalf<emu_from_f16, emu_to_f16> __half;
typedef EmuHalves<__half> __half2;
typedef __half half;
typedef __half2 half2;
EMU_HALF_FUNCTIONS(__half, __half2, half)
