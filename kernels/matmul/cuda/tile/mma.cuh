// The tensor cores' 16 x 8 x 16 product of 16-bit operands, fp32 sums.
#ifndef MNKBENCH_MMA
#define MNKBENCH_MMA
#include "../../../device/ptx_mma.h"
#include "element.cuh"

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
