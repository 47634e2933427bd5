// Blocks of a cluster: their numbers, their barrier, and stores to one another's shared memory.
// See ptx.h.
//
// PTX ISA: "%cluster_ctarank", "barrier.cluster", "mapa", "st.async", "st".
#ifndef MNKBENCH_PTX_CLUSTER
#define MNKBENCH_PTX_CLUSTER
#include "ptx.h"

// The number of this block in its cluster, 0 where there is none.
DEVICE unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// All threads of the cluster meet, warp by warp; a thread that has ended counts as arrived. What
// was written before the arrival is seen after the wait, but for the relaxed one: after that only
// barriers are whose making was fenced. The other is a fence of all memory, which waits for copies
// that are under way.
DEVICE void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
DEVICE void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
DEVICE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// To where `to` is in block `rank`.
DEVICE void store_cluster(unsigned to, unsigned rank, float x) {
  asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1;\n"
               "st.shared::cluster.f32 [a], %2; }" ::"r"(to), "r"(rank), "f"(x) : "memory");
}
// The same, at some time; the barrier where `bar` is in that block is told of the bytes.
DEVICE void store_async(unsigned to, unsigned bar, unsigned rank, unsigned x) {
  asm volatile("{ .reg .b32 a, m; mapa.shared::cluster.u32 a, %0, %2;\n"
               "mapa.shared::cluster.u32 m, %1, %2;\n"
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [a], %3, [m]; }" ::
               "r"(to), "r"(bar), "r"(rank), "r"(x) : "memory");
}
DEVICE void store_async(unsigned to, unsigned bar, unsigned rank, const float (&x)[2]) {
  asm volatile("{ .reg .b32 a, m; mapa.shared::cluster.u32 a, %0, %2;\n"
               "mapa.shared::cluster.u32 m, %1, %2;\n"
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 "
               "[a], {%3, %4}, [m]; }" ::
               "r"(to), "r"(bar), "r"(rank), "f"(x[0]), "f"(x[1]) : "memory");
}
DEVICE void store_async(unsigned to, unsigned bar, unsigned rank, const float (&x)[4]) {
  asm volatile("{ .reg .b32 a, m; mapa.shared::cluster.u32 a, %0, %2;\n"
               "mapa.shared::cluster.u32 m, %1, %2;\n"
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
               "[a], {%3, %4, %5, %6}, [m]; }" ::
               "r"(to), "r"(bar), "r"(rank), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
               : "memory");
}

#endif
