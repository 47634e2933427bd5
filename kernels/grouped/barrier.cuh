// Barriers in shared memory that count arrivals and bytes, and the copies that tell them.
//
// PTX ISA: "mbarrier", "cp.async.bulk", "mapa", "barrier.cluster".
#ifndef GROUPED_BARRIER
#define GROUPED_BARRIER

__device__ inline void barrier_init(unsigned bar, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
}
// After it, other blocks and copies see the barriers that were made.
__device__ inline void barrier_made() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void barrier_expect(unsigned bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
__device__ inline void barrier_arrive(unsigned bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
// At the same barrier of block `rank` of the cluster. Not a release for the cluster, which would
// be a fence of all memory: what was read must not be overwritten, and nothing was
// written that others read.
__device__ inline void barrier_arrive(unsigned bar, unsigned rank) {
  asm volatile("{ .reg .b32 far; mapa.shared::cluster.u32 far, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [far]; }" ::"r"(bar),
               "r"(rank) : "memory");
}
// Returns when the phase of parity `parity` is over.
__device__ inline void barrier_wait(unsigned bar, int parity) {
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again; }" ::"r"(bar), "r"(parity) : "memory");
}

// Bytes, addresses on 16, to this block; `policy` from evict_first() or evict_normal().
__device__ inline void copy(unsigned to, const void* from, int bytes, unsigned bar,
                            unsigned long long policy) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to), "l"(from), "r"(bytes),
               "r"(bar), "l"(policy) : "memory");
}
// To the same place of each block of the cluster in `mask`, and to its barrier.
__device__ inline void copy_to_all(unsigned to, const void* from, int bytes, unsigned bar,
                                   unsigned long long policy, unsigned short mask) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster.L2::cache_hint [%0], [%1], %2, [%3], %4, %5;" ::"r"(to),
               "l"(from), "r"(bytes), "r"(bar), "h"(mask), "l"(policy) : "memory");
}
__device__ inline unsigned long long evict_first() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
// Not evict_last for what is read again: it would outlive the call, and a flush.
__device__ inline unsigned long long evict_normal() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#endif
