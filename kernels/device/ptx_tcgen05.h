// The tensor cores of sm_100a and sm_103a, of one block or of a pair of blocks. See ptx.h. Nothing
// here has run on a GPU.
//
// PTX ISA: "tcgen05", "elect.sync". Products and copies are issued by one thread, of one block of
// the pair; allocation and loads by a warp, allocation of a pair by one of each block. CTA_GROUP is
// 1 or, for a pair, 2, the same in all of a kernel.
#ifndef MNKBENCH_PTX_TCGEN05
#define MNKBENCH_PTX_TCGEN05
#include "ptx_barrier.h"

// Has this thread see a tensor map in global memory that the host wrote before the launch.
DEVICE void acquire_map(const TensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(map) : "memory");
}
// copy_tile() of ptx_barrier.h under a policy; in a pair its bytes count at the even block's
// barrier.
template <int CTA_GROUP>
DEVICE void copy_tile_for(unsigned to, const TensorMap* map, int column, int row, unsigned bar,
                          unsigned long long policy) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(map),
                 "r"(column), "r"(row), "r"(bar), "l"(policy) : "memory");
  else
    asm volatile("{ .reg .b32 far; mapa.shared::cluster.u32 far, %4, %5;\n"
                 "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".cta_group::2.L2::cache_hint [%0], [%1, {%2, %3}], [far], %6; }" ::"r"(to),
                 "l"(map), "r"(column), "r"(row), "r"(bar), "r"(cluster_rank() & ~1u), "l"(policy)
                 : "memory");
}

// 32 bytes, at a multiple of them, which are not read again. sm_100.
DEVICE void store_32_bytes(void* to, const unsigned (&x)[8]) {
  asm volatile("st.global.L1::no_allocate.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(to),
               "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]),
               "r"(x[7]) : "memory");
}

// True in one lane of a warp, and the compiler knows that it is one.
DEVICE bool elect() {
  unsigned chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(chosen));
  return chosen;
}

// Puts the address of `columns` columns of tensor memory at shared address `slot`.
template <int CTA_GROUP>
DEVICE void tensor_alloc(unsigned slot, int columns) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
                 "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(slot),
                 "r"(columns) : "memory");
  else
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;\n"
                 "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::"r"(slot),
                 "r"(columns) : "memory");
}
template <int CTA_GROUP>
DEVICE void tensor_free(unsigned base, int columns) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base),
                 "r"(columns) : "memory");
  else
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(base),
                 "r"(columns) : "memory");
}

// Around a barrier of another kind: what this thread issued before it, and issues after it.
DEVICE void tensor_fence_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
DEVICE void tensor_fence_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// 512 bytes of scales to four columns, the same in each quarter of the lanes; in a pair, each
// block's own to its own, which published kernels rely on and PTX's text was not found to say.
template <int CTA_GROUP>
DEVICE void tensor_copy(unsigned to, unsigned long long from) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from)
                 : "memory");
  else
    asm volatile("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from)
                 : "memory");
}

// Sums = A . B^T, and the sums before if `add`, of E2M1 with scales of blocks of 16. In a pair each
// block has half of A's rows, their scales and their sums, half of B's rows, and the scales of all.
template <int CTA_GROUP>
DEVICE void tensor_multiply(unsigned sums, unsigned long long a, unsigned long long b,
                            unsigned instruction, unsigned scales_a, unsigned scales_b, bool add) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("{ .reg .pred add; setp.ne.u32 add, %6, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 "
                 "[%0], %1, %2, %3, [%4], [%5], add; }" ::"r"(sums), "l"(a), "l"(b),
                 "r"(instruction), "r"(scales_a), "r"(scales_b), "r"((unsigned)add) : "memory");
  else
    asm volatile("{ .reg .pred add; setp.ne.u32 add, %6, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 "
                 "[%0], %1, %2, %3, [%4], [%5], add; }" ::"r"(sums), "l"(a), "l"(b),
                 "r"(instruction), "r"(scales_a), "r"(scales_b), "r"((unsigned)add) : "memory");
}

// Arrives at `bar` once all copies and products that this thread issued are done.
DEVICE void tensor_commit(unsigned bar) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::
               "r"(bar) : "memory");
}
// The same, at that of each block of the cluster in `mask`.
template <int CTA_GROUP>
DEVICE void tensor_commit_to_all(unsigned bar, unsigned short mask) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
                 ".multicast::cluster.b64 [%0], %1;" ::"r"(bar), "h"(mask) : "memory");
  else
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
                 ".multicast::cluster.b64 [%0], %1;" ::"r"(bar), "h"(mask) : "memory");
}

// 16 columns of the lane of tensor memory that is this thread's. One statement with its wait: the
// compiler could else use the values before it.
DEVICE void tensor_load(float (&d)[16], unsigned from) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];\n"
               "tcgen05.wait::ld.sync.aligned;"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]),
                 "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]),
                 "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15])
               : "r"(from) : "memory");
}

#endif
