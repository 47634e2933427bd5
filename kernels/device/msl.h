// What Metal kernels use of Apple GPUs beyond plain MSL: the only place with intrinsics. The
// lane emulator (emulator/msl.h) defines the same names for a CPU and is included before this.
//
// "Metal Shading Language Specification" 3.1. The lanes of a simdgroup_matrix are not in it; they
// are as MLX has them (mlx/backend/metal/kernels/steel/gemm/mma.h, get_coord).
//
// Compile-time, if a kernel is for matrix units: MATRIX_UNITS, which needs Metal 4.
#ifndef MNKBENCH_MSL
#define MNKBENCH_MSL
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
#if MATRIX_UNITS
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#endif
using namespace metal;

#define DEVICE inline __attribute__((always_inline))
// An entry that is dispatched with at most THREADS threads in a threadgroup.
#define KERNEL(THREADS) [[kernel, max_total_threads_per_threadgroup(THREADS)]]
// The parameters that tell a thread where it is: `block` of `blocks`, `tid` in it.
#define WHERE                                                                         \
  uint3 block [[threadgroup_position_in_grid]], uint3 blocks [[threadgroups_per_grid]], \
      uint tid [[thread_index_in_threadgroup]]
// The parameter `lds`: as much threadgroup memory as the launch asked for.
#define ROOM threadgroup uchar *lds [[threadgroup(0)]]

typedef bfloat bf16;
typedef half f16;
typedef float f32;

// All simdgroups of the threadgroup meet; what they wrote to its memory before, they see after.
DEVICE void barrier() { threadgroup_barrier(mem_flags::mem_threadgroup); }

// The sum of all lanes' values; the value of the lane whose number differs in the bits of `mask`.
DEVICE float lane_sum(float x) { return simd_sum(x); }
DEVICE float lane_xor(float x, ushort mask) { return simd_shuffle_xor(x, mask); }

// A square of 8 x 8 over the lanes of a simdgroup: a lane has two neighbours of one row.
DEVICE int square_row(uint lane) { return (lane / 4 & 4) + lane / 2 % 4; }
DEVICE int square_col(uint lane) { return (lane / 4 & 2) * 2 + lane % 2 * 2; }

// c += a . b of three such squares.
DEVICE void multiply_add(thread float2 &c, float2 a, float2 b) {
  simdgroup_matrix<float, 8, 8> A, B, C;
  reinterpret_cast<thread float2 &>(A.thread_elements()) = a;
  reinterpret_cast<thread float2 &>(B.thread_elements()) = b;
  reinterpret_cast<thread float2 &>(C.thread_elements()) = c;
  simdgroup_multiply_accumulate(C, A, B, C);
  c = reinterpret_cast<thread float2 &>(C.thread_elements());
}

// Matrix units: of an M5 and later, by Metal 4's tensor operations. A square of 16 x 16 over the
// lanes of a simdgroup: a lane has four neighbours of row unit_row and four of the eighth after it.
// Metal leaves the places to the compiler; these are as MLX has them (kernels/steel/gemm/nax.h).
DEVICE int unit_row(uint lane) { return (lane / 4 & 4) + lane / 2 % 4; }
DEVICE int unit_col(uint lane) { return (lane / 4 & 2) * 4 + lane % 2 * 4; }

#if MATRIX_UNITS
// c and d += a . b^T for a square `a` and the two squares of 32 rows of b.
template <class T>
DEVICE void multiply_add_units(thread float *c, thread float *d, thread const T *a,
                               thread const T *b) {
  using mpp::tensor_ops::matmul2d_descriptor;
  constexpr auto how = matmul2d_descriptor(16, 32, 16, false, true, true,
                                           matmul2d_descriptor::mode::multiply_accumulate);
  mpp::tensor_ops::matmul2d<how, execution_simdgroup> product;
  auto A = product.template get_left_input_cooperative_tensor<T, T, float>();
  auto B = product.template get_right_input_cooperative_tensor<T, T, float>();
  auto C = product.template get_destination_cooperative_tensor<
      remove_addrspace_t<decltype(A)>, remove_addrspace_t<decltype(B)>, float>();
  for (ushort i = 0; i < 8; i++) A[i] = a[i], C[i] = c[i], C[8 + i] = d[i];
  for (ushort i = 0; i < 16; i++) B[i] = b[i];
  product.run(A, B, C);
  for (ushort i = 0; i < 8; i++) c[i] = C[i], d[i] = C[8 + i];
}
#endif

#endif
