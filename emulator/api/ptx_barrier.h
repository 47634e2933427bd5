// kernels/device/ptx_barrier.h for the lane emulator: the same names, on a CPU. See cuda.h.
#ifndef MNKBENCH_PTX_BARRIER
#define MNKBENCH_PTX_BARRIER
#include "ptx.h"

HIDDEN inline void barrier_init(unsigned bar, int arrivals) { emu_mbarrier_init(bar, arrivals); }
HIDDEN inline void barrier_made() { emu_mbarrier_made(); }
HIDDEN inline void barrier_expect(unsigned bar, int bytes) { emu_mbarrier_arrive(bar, emu_rank(), bytes); }
HIDDEN inline void barrier_open(unsigned bar, int bytes) {
  barrier_init(bar, 1);
  barrier_made();
  barrier_expect(bar, bytes);
}
HIDDEN inline void barrier_arrive(unsigned bar) { emu_mbarrier_arrive(bar, emu_rank(), 0); }
// Scopes are not told apart.
HIDDEN inline void barrier_arrive(unsigned bar, unsigned rank) { emu_mbarrier_arrive(bar, rank, 0); }
HIDDEN inline void barrier_wait(unsigned bar, int parity) { emu_mbarrier_wait(bar, parity); }
template <int PARITY> HIDDEN void barrier_wait_cluster(unsigned bar) { emu_mbarrier_wait(bar, PARITY); }

// A policy is a number that evict_first() and evict_normal() make.
HIDDEN inline void emu_policy(unsigned long long policy) {
  if (policy >> 1 != 0xe71c7) emu_refuse("a cache policy that is none");
}
HIDDEN inline void copy_bulk(unsigned to, const void *from, int bytes, unsigned bar, unsigned long long policy) {
  emu_policy(policy);
  emu_copy_bulk(to, from, bytes, bar, 1u << emu_rank());
}
HIDDEN inline void copy_bulk_to_all(unsigned to, const void *from, int bytes, unsigned bar,
                                    unsigned long long policy, unsigned short mask) {
  emu_policy(policy);
  emu_copy_bulk(to, from, bytes, bar, mask);
}

#endif
