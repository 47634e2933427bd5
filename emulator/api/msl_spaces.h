// kernels/device/msl.h for clang alone: names without bodies, and MSL's address spaces as spaces of
// clang's, so that it refuses a pointer of one where one of another is wanted, as Metal's compiler
// does. Nothing that is compiled with it runs.
#ifndef MNKBENCH_MSL
#define MNKBENCH_MSL

#define DEVICE inline __attribute__((always_inline))
#define KERNEL(THREADS) static_assert((THREADS) % 32 == 0 && (THREADS) <= 1024, "whole simdgroups");
#define device __attribute__((address_space(1)))
#define constant __attribute__((address_space(2))) const
#define threadgroup __attribute__((address_space(3)))
#define thread

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned uint;
typedef unsigned long ulong;
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef uint uint3 __attribute__((ext_vector_type(3)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef _Float16 half, f16;
typedef __bf16 bfloat, bf16;
typedef float f32;

template <class To, class From> To as_type(From from) { return __builtin_bit_cast(To, from); }
template <class T> T min(T a, T b) { return a < b ? a : b; }
template <class T> T max(T a, T b) { return a > b ? a : b; }
void barrier();
float lane_sum(float x);
float lane_xor(float x, ushort mask);
int square_row(uint lane);
int square_col(uint lane);
void multiply_add(thread float2 &c, float2 a, float2 b);
int unit_row(uint lane);
int unit_col(uint lane);
template <class T> void multiply_add_units(thread float *c, thread float *d, thread const T *a, thread const T *b);
#define WHERE uint3 block, uint3 blocks, uint tid
#define ROOM threadgroup uchar *lds

#endif
