// CUDA's header of this name for the lane emulator.
#pragma once
#include "../cuda_half.h"

typedef EmuHalf<emu_from_bf16, emu_to_bf16> __nv_bfloat16;
typedef EmuHalves<__nv_bfloat16> __nv_bfloat162;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
EMU_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat162, bfloat16)
