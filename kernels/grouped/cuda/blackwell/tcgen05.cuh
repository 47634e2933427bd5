// The instructions of the tensor cores of sm_100a and sm_103a, for one block.
//
// PTX ISA: "tcgen05". Those of products and copies are issued by one thread, those of allocation
// and loads by a warp.
#ifndef BLACKWELL_TCGEN05
#define BLACKWELL_TCGEN05

// True in one lane of a warp, and the compiler knows that it is one.
__device__ inline bool elect() {
  unsigned chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(chosen));
  return chosen;
}

// Puts the address of `columns` columns of tensor memory at shared address `slot`.
__device__ inline void tensor_alloc(unsigned slot, int columns) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
               "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(slot),
               "r"(columns) : "memory");
}
__device__ inline void tensor_free(unsigned base, int columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns)
               : "memory");
}
__device__ inline unsigned load_word(unsigned from) {
  unsigned x;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
  return x;
}

// Around a barrier of another kind: what this thread issued before it, and issues after it.
__device__ inline void tensor_fence_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ inline void tensor_fence_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// 512 bytes of scales to four columns, the same in each quarter of the lanes.
__device__ inline void tensor_copy(unsigned to, unsigned long long from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from) : "memory");
}

// Sums = A . B^T, and the sums before if `add`.
__device__ inline void tensor_multiply(unsigned sums, unsigned long long a, unsigned long long b,
                                       unsigned instruction, unsigned scales_a, unsigned scales_b,
                                       bool add) {
  asm volatile("{ .reg .pred add; setp.ne.u32 add, %6, 0;\n"
               "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 "
               "[%0], %1, %2, %3, [%4], [%5], add; }" ::"r"(sums), "l"(a), "l"(b),
               "r"(instruction), "r"(scales_a), "r"(scales_b), "r"((unsigned)add) : "memory");
}

// Arrives at `bar` once all copies and products that this thread issued are done.
__device__ inline void tensor_commit(unsigned bar) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::
               "r"(bar) : "memory");
}

// 16 columns of the lane of tensor memory that is this thread's. One statement with its wait: the
// compiler could else use the values before it.
__device__ inline void tensor_load(float (&d)[16], unsigned from) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];\n"
               "tcgen05.wait::ld.sync.aligned;"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]),
                 "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]),
                 "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15])
               : "r"(from) : "memory");
}

// 16 bytes to shared memory, past the first-level cache.
__device__ inline void copy_chunk(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// All but the last `N` groups of this thread's copies are there.
template <int N>
__device__ inline void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
// What this thread wrote to shared memory, the tensor cores may read.
__device__ inline void show_to_tensor_cores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif
