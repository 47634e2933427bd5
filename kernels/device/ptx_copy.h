// Copies by tensor maps of what is read once. See ptx.h.
#ifndef MNKBENCH_PTX_COPY
#define MNKBENCH_PTX_COPY
#include "ptx_barrier.h"

// copy_tile() of ptx_barrier.h under `policy`, from evict_first() of ptx_memory.h: lines that take the
// place of others leave the second-level cache before them.
//
// PTX ISA: "cp.async.bulk.tensor".
DEVICE void copy_tile_once(unsigned to, const TensorMap* map, int column, int row, unsigned bar,
                           unsigned long long policy) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(map), "r"(column),
               "r"(row), "r"(bar), "l"(policy) : "memory");
}

#endif
