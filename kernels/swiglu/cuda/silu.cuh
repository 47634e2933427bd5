// silu(gate) * up in fp32. No fast division: of an exp(-gate) beyond fp32 it is NaN.
#ifndef MNKBENCH_SILU
#define MNKBENCH_SILU
#include "../../matmul/cuda/tile/element.cuh"

DEVICE float joined(float gate, float up) { return gate / (1 + __expf(-gate)) * up; }

#endif
