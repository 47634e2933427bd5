// Barriers in shared memory that count arrivals and bytes (mbarrier), and the copies that tell
// them. See ptx.h. A barrier is 8 bytes at a multiple of 8, by its shared address.
//
// PTX ISA: "mbarrier", "fence.mbarrier_init", "cp.async.bulk", "mapa".
#ifndef MNKBENCH_PTX_BARRIER
#define MNKBENCH_PTX_BARRIER
#include "ptx.h"

DEVICE void barrier_init(unsigned bar, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
}
// After it, other blocks and copies see the barriers that were made.
DEVICE void barrier_made() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// A barrier of one arrival, which has arrived: its first phase waits for `bytes`. Other blocks
// and copies see it, before it expects them perhaps: bytes that come first are counted too.
DEVICE void barrier_open(unsigned bar, int bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
               "fence.mbarrier_init.release.cluster;\n"
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
// Arrives, and has the phase wait for `bytes` more.
DEVICE void barrier_expect(unsigned bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
DEVICE void barrier_arrive(unsigned bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
// At the same barrier of block `rank` of the cluster. Not a release for the cluster, which would
// be a fence of all memory: what was read must not be overwritten, and nothing was written that
// others read.
DEVICE void barrier_arrive(unsigned bar, unsigned rank) {
  asm volatile("{ .reg .b32 far; mapa.shared::cluster.u32 far, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [far]; }" ::"r"(bar), "r"(rank)
               : "memory");
}
// Returns when the phase of parity `parity` is over: what this block, and copies, did before.
DEVICE void barrier_wait(unsigned bar, int parity) {
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again; }" ::"r"(bar), "r"(parity) : "memory");
}
// The same, of all blocks of the cluster.
template <int PARITY>
DEVICE void barrier_wait_cluster(unsigned bar) {
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again; }" ::"r"(bar), "n"(PARITY) : "memory");
}

// Copies `bytes`, addresses and count multiples of 16, to this block, and tells `bar` of them;
// `policy` from evict_first() or evict_normal().
DEVICE void copy_bulk(unsigned to, const void* from, int bytes, unsigned bar,
                      unsigned long long policy) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to), "l"(from), "r"(bytes),
               "r"(bar), "l"(policy) : "memory");
}
// To the same place of each block of the cluster in `mask`, and to its barrier.
DEVICE void copy_bulk_to_all(unsigned to, const void* from, int bytes, unsigned bar,
                             unsigned long long policy, unsigned short mask) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster.L2::cache_hint [%0], [%1], %2, [%3], %4, %5;" ::"r"(to),
               "l"(from), "r"(bytes), "r"(bar), "h"(mask), "l"(policy) : "memory");
}

#endif
