// Barriers, clusters of blocks, and copies by tensor maps. See ptx.h.
#ifndef MNKBENCH_PTX_BARRIER
#define MNKBENCH_PTX_BARRIER
#include "ptx.h"

// Barriers in shared memory that count arrivals and bytes (mbarrier), and the copies that tell
// them. A barrier is 8 bytes at a multiple of 8, by its shared address.
//
// PTX ISA: "mbarrier", "fence.mbarrier_init", "cp.async.bulk", "mapa".

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

// Blocks of a cluster: their numbers, their barrier, and stores to one another's shared memory.
//
// PTX ISA: "%cluster_ctarank", "barrier.cluster", "mapa", "st.async", "st".

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

// Copies of boxes of a matrix by the Tensor Memory Accelerator: one thread asks, what lies outside
// of the matrix comes as zeros, and what is written is swizzled as tensor cores read it. sm_90.
// Such a copy tells a barrier.
//
// PTX ISA: "cp.async.bulk.tensor", "Tensor-map", "Tensor swizzling modes".

// What the driver makes (cuTensorMapEncodeTiled): where the matrix is, of what size and type, its
// boxes and their swizzle. A kernel has it as a parameter `const __grid_constant__ TensorMap map`:
// without __grid_constant__ each thread would have a copy of its own, which the copies cannot read.
// Not CUtensorMap, which is cuda.h's, with which NVRTC would need an include path.
struct alignas(64) TensorMap { unsigned long long words[16]; };

// Copies the map's box that starts at (`row`, `column`), in elements and free to be negative, to
// `to`, a multiple of 128; `column` counts along the side where elements lie next to one another.
// All bytes of the box count at `bar`, those of zeros too. Rows of 128, 64 or 32 bytes follow one
// another swizzled: of each 128-byte line of shared memory, the 16-byte chunks are XORed with the
// line's number modulo 8, 4 or 2. With rows of 128 bytes from a multiple of 1024 on that number is
// the row's, which is what descriptor() of ptx_mma.h describes.
DEVICE void copy_tile(unsigned to, const TensorMap* map, int column, int row, unsigned bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(bar)
               : "memory");
}
// To the same place of each block of the cluster in `mask`, and to its barrier.
DEVICE void copy_tile_to_all(unsigned to, const TensorMap* map, int column, int row, unsigned bar,
                             unsigned short mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(map),
               "r"(column), "r"(row), "r"(bar), "h"(mask) : "memory");
}

#endif
