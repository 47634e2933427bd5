// Copies of threads that tell barriers. See ptx.h.
#ifndef MNKBENCH_PTX_ARRIVE
#define MNKBENCH_PTX_ARRIVE
#include "ptx_barrier.h"

// Arrives at `bar` when all copies are there that the thread asked for by copy_async_*().
//
// PTX ISA: "cp.async.mbarrier.arrive".
DEVICE void copies_arrive(unsigned bar) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}

#endif
