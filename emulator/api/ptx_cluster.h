// kernels/device/ptx_cluster.h for the lane emulator: the same names, on a CPU. See cuda.h.
#ifndef MNKBENCH_PTX_CLUSTER
#define MNKBENCH_PTX_CLUSTER
#include "ptx.h"

EMU_CONSTANT_OF_LANE inline unsigned cluster_rank() { return emu_rank(); }

HIDDEN inline void cluster_arrive() { emu_cluster_arrive(EMU_RELEASE); }
HIDDEN inline void cluster_arrive_relaxed() { emu_cluster_arrive(EMU_RELAXED); }
HIDDEN inline void cluster_wait() { emu_cluster_wait(); }
HIDDEN inline void cluster_sync() {
  emu_cluster_arrive(EMU_RELEASE);
  emu_cluster_wait();
}

HIDDEN inline void store_cluster(unsigned to, unsigned rank, float x) { emu_store_far(to, rank, &x, 4); }
HIDDEN inline void store_async(unsigned to, unsigned bar, unsigned rank, unsigned x) {
  emu_store_async(to, bar, rank, &x, 4);
}
HIDDEN inline void store_async(unsigned to, unsigned bar, unsigned rank, const float (&x)[2]) {
  emu_store_async(to, bar, rank, x, 8);
}
HIDDEN inline void store_async(unsigned to, unsigned bar, unsigned rank, const float (&x)[4]) {
  emu_store_async(to, bar, rank, x, 16);
}

#endif
