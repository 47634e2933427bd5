// Tensor maps, and boxes of what they describe, brought to caches. See ptx.h.
#ifndef MNKBENCH_PTX_PREFETCH
#define MNKBENCH_PTX_PREFETCH
#include "ptx_barrier.h"

// PTX ISA: "prefetch, prefetchu" (.tensormap), "cp.async.bulk.prefetch.tensor". sm_90.

// Brings a map to where copies by it read it.
DEVICE void prefetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// Brings a box, which copy_tile() has the meaning of, to the second-level cache.
DEVICE void prefetch_tile(const TensorMap* map, int column, int row) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map),
               "r"(column), "r"(row) : "memory");
}

#endif
