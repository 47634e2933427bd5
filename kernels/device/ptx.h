// What CUDA kernels use of NVIDIA's GPUs beyond CUDA C++: with the other ptx_*.h of this folder
// the only place with inline assembly. It needs no CUDA header, so that NVRTC compiles it without
// an include path to a toolkit. The lane emulator (emulator/ptx*.h) defines the same names for a
// CPU and is included before this.
//
// Here: words for shared memory, conversions, registers, dependent launches. In all of them
// `volatile`, "memory" and the types of parameters are those that measured kernels were compiled
// with: ptxas makes other code of a .b32 than of a .u32, and nvcc of an address that was cast.
//
// PTX ISA: "cvt", "mul", "fma", "setmaxnreg", "griddepcontrol", "bar".
#ifndef MNKBENCH_PTX
#define MNKBENCH_PTX

#define DEVICE __device__ __forceinline__
// All of the block's shared memory that the launch asked for, as `memory`, at ALIGN bytes.
#define SHARED_MEMORY(ALIGN) extern __shared__ __align__(ALIGN) unsigned char memory[]
// More of it, of a size that the kernel itself knows: an array, or one value.
#define SHARED(TYPE, NAME, ...) __shared__ TYPE NAME __VA_ARGS__
#define SHARED_ALIGNED(ALIGN, TYPE, NAME, ...) __shared__ __align__(ALIGN) TYPE NAME __VA_ARGS__

// Addresses of shared memory are 32-bit numbers.
DEVICE unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// 16-bit floats by their bits, rounded to nearest even. sm_80.
DEVICE float f16_to_f32(unsigned short x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
DEVICE void f32_to_f16(float x, unsigned short& y) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
}
DEVICE void f32_to_bf16(float x, unsigned short& y) {
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
}
// Pairs: the first of two is in the lower half.
DEVICE unsigned f32_to_2f16(float low, float high) {
  unsigned y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
DEVICE unsigned f32_to_2bf16(float low, float high) {
  unsigned y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
// From the lower half of `x`. sm_89.
DEVICE unsigned e4m3_to_2f16(unsigned x) {
  unsigned y;
  asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.rn.f16x2.e4m3x2 %0, h; }" : "=r"(y) : "r"(x));
  return y;
}
// All of `x`.
DEVICE void e4m3_to_4f16(unsigned (&y)[2], unsigned x) {
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2;\n"
      "cvt.rn.f16x2.e4m3x2 %0, l; cvt.rn.f16x2.e4m3x2 %1, h; }"
      : "=r"(y[0]), "=r"(y[1]) : "r"(x));
}
DEVICE unsigned multiply_2f16(unsigned a, unsigned b) {
  unsigned c;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}
// sm_90.
DEVICE unsigned multiply_2bf16(unsigned a, unsigned b) {
  unsigned c;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}
// a * b + c, rounded once. fp16: sm_53; bf16: sm_80.
DEVICE unsigned multiply_add_2f16(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
DEVICE unsigned multiply_add_2bf16(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

// One half of `x` in both, so that ptxas makes it part of the product that takes it.
DEVICE unsigned low_half_twice(unsigned x) {
  unsigned y;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {l, l}; }" : "=r"(y) : "r"(x));
  return y;
}
DEVICE unsigned high_half_twice(unsigned x) {
  unsigned y;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, h}; }" : "=r"(y) : "r"(x));
  return y;
}

// threadIdx.x, but read where it is asked for: what follows from it is not computed earlier and
// kept in registers.
DEVICE unsigned thread_x_here() {
  unsigned x;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
  return x;
}
// 0, but written where it is asked for, and into a register of its own.
DEVICE void zero_here(float& x) { asm volatile("mov.f32 %0, 0f00000000;" : "=f"(x)); }
DEVICE void zero_here(unsigned& x) { asm volatile("mov.u32 %0, 0;" : "=r"(x)); }
// `x` is computed by here, and what reads it is not moved to before this.
DEVICE void not_before(float& x) { asm volatile("" : "+f"(x)::"memory"); }
DEVICE void not_before(int& x) { asm volatile("" : "+r"(x)::"memory"); }
DEVICE void not_before(unsigned& x) { asm volatile("" : "+r"(x)::"memory"); }
template <class T>
DEVICE void not_before(T*& x) { asm volatile("" : "+l"(x)::"memory"); }

// By all warps of a warpgroup: it has this many registers a thread from now on, more than before
// or fewer. sm_90a.
template <int COUNT>
DEVICE void raise_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT>
DEVICE void lower_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// Barrier `id` (0 is that of __syncthreads) of MANY threads, whole warps.
template <int MANY>
DEVICE void sync_some(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(MANY) : "memory");
}

// Programmatic dependent launch, which devices before sm_90 do not have. The next kernel may start once
// all blocks have executed the first, or ended. The second waits until the previous launch has completed
// and its writes are visible.
#if __CUDA_ARCH__ >= 900
DEVICE void launch_dependents() { asm volatile("griddepcontrol.launch_dependents;"); }
DEVICE void wait_for_prerequisites() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#else
DEVICE void launch_dependents() {}
DEVICE void wait_for_prerequisites() {}
#endif

#endif
