// Weights to and from their stored form, bit for bit as bench/formats does it.
#include "weight.cuh"

// Rounded to nearest even; NaN to the code that the host writes.
template <class T>
__device__ T rounded(float x);
template <>
__device__ bf16 rounded<bf16>(float x) {
  bf16 y;
  narrow(x, y);
  return x != x ? bf16{0x7fc0} : y;
}
template <>
__device__ f16 rounded<f16>(float x) {
  f16 y;
  narrow(x, y);
  return x != x ? f16{0x7e00} : y;
}

// What stored weights stand for, in fp32 and then rounded to TYPE.
//
// Idea: a thread has eight codes, which are BITS bytes and share a scale: a few loads and
// one store of 16 bytes.
//
//   w, scales, biases: `count` weights, whole groups a row   to [count] TYPE
//   grid ceil(count / 8 / 256) or fewer (they stride), block 256
extern "C" __global__ void __launch_bounds__(256)
dequantise(const unsigned char* w, const void* scales, const void* biases, TYPE* to,
           long long count, int group) {
  const Weights<TYPE> weights{0, scales, biases, 0, MODE, BITS, group};
  const long long stride = (long long)gridDim.x * 256;
  for (long long eight = blockIdx.x * 256ll + threadIdx.x; eight < count / 8; eight += stride) {
    unsigned long long codes = 0;
#pragma unroll
    for (int byte = 0; byte < BITS; byte++)
      codes |= (unsigned long long)w[eight * BITS + byte] << 8 * byte;
    const long long g = 8 * eight / group;
    const float scale = weights.scale(g), bias = weights.bias(g);
    Pack<TYPE, 8> out;
#pragma unroll
    for (int i = 0; i < 8; i++)
      out.at[i] = rounded<TYPE>(
          decode_code(MODE, (unsigned)(codes >> BITS * i) & ((1 << BITS) - 1), scale, bias));
    ((Pack<TYPE, 8>*)to)[eight] = out;
  }
}

// The inverse. A thread has a group.
//
//   from [groups * group] TYPE   grid ceil(groups / 256), block 256
extern "C" __global__ void __launch_bounds__(256)
quantise(const TYPE* from, unsigned* w, void* scales, void* biases, long long groups,
         int group) {
  const long long g = blockIdx.x * 256ll + threadIdx.x;
  if (g >= groups) return;
  float values[MAX_GROUP], scale, bias;
  unsigned words[MAX_GROUP * BITS / 32] = {};
  for (int i = 0; i < group; i++) values[i] = widen(from[g * group + i]);
  if (MODE == AFFINE) {
    quantise_affine(values, BITS, group, words, &scale, &bias);
    ((TYPE*)scales)[g] = rounded<TYPE>(scale);
    ((TYPE*)biases)[g] = rounded<TYPE>(bias);
  } else {
    ((unsigned char*)scales)[g] = quantise_microscale(values, MODE, group, words);
  }
  const int count = group * BITS / 32;
  for (int i = 0; i < count; i++) w[g * count + i] = words[i];
}
