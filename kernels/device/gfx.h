// What HIP kernels use of AMD's CDNA GPUs: the only place with builtins and inline assembly.
// It needs no ROCm header, so that hipRTC and a plain clang compile the same text. The lane
// emulator (emulator/gfx.h) defines the same names for a CPU and is included before this.
//
// "AMD Instinct MI300 instruction set architecture" (CDNA 3): MFMA, DS, buffer and wait
// instructions; the same of CDNA 4 for what gfx950 has beyond them. "User Guide for AMDGPU
// Backend" (LLVM): memory model of gfx90a, gfx942 and gfx950. Nothing here has run on a GPU.
#ifndef MNKBENCH_GFX
#define MNKBENCH_GFX

#define DEVICE __attribute__((device)) inline __attribute__((always_inline))
// An entry that is launched with at most THREADS threads in a block.
#define KERNEL(THREADS)                                                                      \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, THREADS)))
// Few enough registers that a SIMD holds as many waves of it.
#define RESIDENT(WAVES) __attribute__((amdgpu_waves_per_eu(WAVES)))

constexpr int WAVE = 64;

typedef float f32x4 __attribute__((vector_size(16)));
typedef unsigned u32x4 __attribute__((vector_size(16)));
typedef unsigned u32x2 __attribute__((vector_size(8)));
typedef short s16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 h16x4 __attribute__((ext_vector_type(4)));

DEVICE int thread_x() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE int block_x() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE int block_y() { return __builtin_amdgcn_workgroup_id_y(); }
// Blocks along x: the first word of the implicit arguments (code object version 5).
DEVICE int grid_x() {
  return *(const __attribute__((address_space(4))) int*)__builtin_amdgcn_implicitarg_ptr();
}

// The local data share of the block: as many bytes as the launch asked for.
extern __attribute__((shared)) __attribute__((aligned(16))) unsigned char gfx_dynamic_lds[];
#define LDS gfx_dynamic_lds

// All waves of the block meet; what they wrote before it, they see after it.
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Another lane's value, whose number differs from this one's in the bits of `mask`.
DEVICE unsigned lane_xor(unsigned x, int mask) {
  int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  return __builtin_amdgcn_ds_bpermute((lane ^ mask) * 4, x);
}

// c + a . b of a wave, 16 x 16 x 16: lane l holds row (of a) or column (of b) l % 16 at
// k = l / 16 * 4 + 0..3, and of c column l % 16 at rows l / 16 * 4 + 0..3.
DEVICE f32x4 mfma_bf16(u32x2 a, u32x2 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k((s16x4)a, (s16x4)b, c, 0, 0, 0);
}
DEVICE f32x4 mfma_f16(u32x2 a, u32x2 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16((h16x4)a, (h16x4)b, c, 0, 0, 0);
}
#if defined(__gfx950__)
typedef __bf16 b16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16x8 __attribute__((ext_vector_type(8)));
// The same of 16 x 16 x 32: k = l / 16 * 8 + 0..7.
DEVICE f32x4 mfma_bf16_k32(u32x4 a, u32x4 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16((b16x8)a, (b16x8)b, c, 0, 0, 0);
}
DEVICE f32x4 mfma_f16_k32(u32x4 a, u32x4 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_f16((h16x8)a, (h16x8)b, c, 0, 0, 0);
}
#endif
// The same of 16 x 16 x 4 in IEEE fp32: k = l / 16.
DEVICE f32x4 mfma_f32(float a, float b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0);
}

DEVICE float f16_to_f32(unsigned short bits) { return (float)__builtin_bit_cast(_Float16, bits); }
DEVICE unsigned short f32_to_f16(float x) {
  return __builtin_bit_cast(unsigned short, (_Float16)x);
}

// 16 bytes that nobody will read again soon: they do not displace what is cached.
DEVICE u32x4 load_once(const u32x4* p) { return __builtin_nontemporal_load(p); }

// Counters in global memory, seen by all blocks. What was written before a `release` is seen
// by who reads it with `acquire`; the L2 caches of MI300's dies are not coherent, so both are
// of agent scope.
DEVICE int agent_add_acq_rel(int* p, int x) {
  return __hip_atomic_fetch_add(p, x, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
}
DEVICE int agent_load_acquire(const int* p) {
  return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
DEVICE void agent_store_release(int* p, int x) {
  __hip_atomic_store(p, x, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
DEVICE void agent_store(int* p, int x) {
  __hip_atomic_store(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// Sums in memory, in whatever order they arrive.
DEVICE void agent_add_f32(float* p, float x) {
  asm volatile("global_atomic_add_f32 %0, %1, off" ::"v"(p), "v"(x) : "memory");
}
DEVICE void agent_add_2bf16(unsigned* p, unsigned x) {
  asm volatile("global_atomic_pk_add_bf16 %0, %1, off" ::"v"(p), "v"(x) : "memory");
}
DEVICE void agent_add_2f16(unsigned* p, unsigned x) {
  asm volatile("global_atomic_pk_add_f16 %0, %1, off" ::"v"(p), "v"(x) : "memory");
}
// Starts to copy 4 or 16 bytes a lane into the local data share, past the registers: to `to`, which
// is the wave's, and as many bytes further for each lane. A wave's copies arrive in order, with its
// other loads. By assembly: clang 19 crashes on the builtin beside MFMA, and the compiler would wait
// for all copies before any read of the local data share.
#if !defined(__gfx90a__)
// M0 is the place in the local data share. A wait state follows its write: CDNA 3, "Required
// software-inserted wait states". Nobody else uses M0, which cannot be named as overwritten.
#define GFX_COPY(INSTRUCTION, TO, FROM)                                                           \
  unsigned at = (unsigned)(unsigned long long)(__attribute__((address_space(3))) void*)(TO);     \
  at = __builtin_amdgcn_readfirstlane(at);                                                        \
  asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\t" INSTRUCTION " %1, off" ::"s"(at), "v"(FROM)     \
               : "memory")
// gfx942 and gfx950.
DEVICE void copy_async(unsigned* to, const unsigned* from) {
  GFX_COPY("global_load_lds_dword", to, from);
}
#if defined(__gfx950__)
DEVICE void copy_async_16(u32x4* to, const u32x4* from) {
  GFX_COPY("global_load_lds_dwordx4", to, from);
}
#endif
#endif
// Waits until at most `LEFT` of the wave's loads and copies are under way.
template <int LEFT>
DEVICE void wait_copies() {
  asm volatile("s_waitcnt vmcnt(%0)" ::"n"(LEFT) : "memory");
}
// A spinning wave gives its issue slots to others.
DEVICE void pause() { __builtin_amdgcn_s_sleep(2); }

#endif
