// Clocks of one wgmma 64 x N x 16 (bf16, fp32 sums): A from registers or from shared memory, 1 to 4
// warpgroups on one multiprocessor, with and without integer and FMA instructions after each group of
// four. Prints a CSV. nvcc -std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a rate.cu -o rate
#include <stdio.h>
#include <vector>
#include "gemm.cuh"

constexpr int STEPS = 512;

// Two weights of a register from byte `byte` of a word; FORMAT 0: affine 4 bits, 1: affine 8 bits (two
// bytes of a word), 2: e2m1 (mxfp4, nvfp4). s and b as Scales makes them; e2m1: s * 2^94 twice.
// e2m1 is moved to the sign, the low two exponent bits and the high mantissa bit of bf16: its value
// times 2^-126.
template <int FORMAT> DEV uint32_t weights(uint32_t word, uint32_t byte, uint32_t s, uint32_t b) {
  if (FORMAT == 0) return decode<0>(word, byte * 0x101 | 0x4040, s, b);
  if (FORMAT == 1) return hfma2(__byte_perm(word, 0, 0x4040 | (byte & 2) | (((byte & 2) + 1) << 8)), s, b);
  uint32_t v = __byte_perm(word, word << 4, byte << 12 | (byte + 4) << 4), t = v >> 6, r;
  asm("lop3.b32 %0, %1, %2, 0x80008000, 0xe4;" : "=r"(r) : "r"(v), "r"(t));
  return hmul2(r & 0x81c081c0, s);
}
// All codes of a byte against their values; counts mistakes.
__global__ void check(int* wrong) {
  uint32_t value = threadIdx.x, byte = blockIdx.x, word = value << 8 * byte | (0x5a5a5a5a & ~(0xffu << 8 * byte));
  const float e2m1[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6};
  auto half = [](uint32_t v, int h) { return __uint_as_float(h ? v & 0xffff0000 : v << 16); };
  auto scale = [](float s) { return __float_as_uint(s) >> 16; };
  auto expect = [&](float got, float want) {
    if (got * UNSCALE != want) atomicAdd(wrong, 1);
  };
  uint32_t s4 = scale(0x1p101f) | scale(0x1p97f) << 16, b = scale(0x1p-32f) * 0x10001;
  uint32_t v = weights<0>(word, byte, s4, b);
  expect(half(v, 0), (value & 15) + 1), expect(half(v, 1), (value >> 4) + 1);
  uint32_t s8 = scale(0x1p101f) * 0x10001;
  v = weights<1>(word, byte, s8, 0);
  expect(half(v, byte & 1), value);
  uint32_t f4 = scale(0x1p94f) * 0x10001;
  v = weights<2>(word, byte, f4, 0);
  for (int h = 0; h < 2; h++) {
    uint32_t code = h ? value >> 4 : value & 15;
    expect(half(v, h), code & 8 ? -e2m1[code & 7] : e2m1[code & 7]);
  }
}
// WORK: decoded registers of the next operand for each group (0, or 16 as in the GEMM).
template <int N, bool RS, int WORK, int FORMAT> __global__ void __launch_bounds__(N > 128 ? 256 : 512, 1) rate(long long* out, uint32_t* seed) {
  extern __shared__ unsigned char memory[];
  uint32_t base = (smem_u32(memory) + 1023) & ~1023u;
  int t = threadIdx.x, wg = t / 128;
  for (int i = t; i < 160 * 1024 / 4; i += blockDim.x)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + i * 4), "r"((i * 2654435761u & 0x00ff00ffu) | 0x3f003f00u));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float d[N / 2];
#pragma unroll
  for (int i = 0; i < N / 2; i++) d[i] = 0;
  uint32_t a[2][16], q[16], s = 0x3f803f80, b = seed[t];
#pragma unroll
  for (int i = 0; i < 16; i++) a[0][i] = a[1][i] = seed[t + i] | 0x3c003c00, q[i] = seed[t + 16 + i];
  uint32_t w = base + wg * 8192, x = base + 32768 + (wg % 2) * 32768;
  __syncthreads();
  long long start = clock64();
#pragma unroll 1
  for (int step = 0; step < STEPS; step += 2) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      wgmma_fence();
#pragma unroll
      for (int j = 0; j < 4; j++)
        if constexpr (RS) wgmma_rs<N>(d, a[p] + 4 * j, descriptor(x, j));
        else wgmma_ss<N>(d, descriptor(w, j), descriptor(x, j));
      wgmma_commit();
      wgmma_wait<1>();
      if (WORK) {
#pragma unroll
        for (int i = 0; i < WORK; i++) {
          asm volatile("" : "+r"(q[i]));
          a[p ^ 1][i] = weights<FORMAT>(q[i], t % 4, s, b);
          asm volatile("" : "+r"(a[p ^ 1][i]));
        }
      }
    }
  }
  wgmma_wait<0>();
  __syncthreads();
  long long clocks = clock64() - start;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < N / 2; i++) {
    asm volatile("" : "+f"(d[i]));
    sum += d[i];
  }
#pragma unroll
  for (int i = 0; i < 16; i++) sum += a[0][i] + a[1][i];
  if (t == 0) out[0] = clocks;
  if (sum == 12345.678f) out[1] = 1;
}
template <int N, bool RS, int WORK, int FORMAT = 0> void run(long long* out, uint32_t* seed) {
  auto k = rate<N, RS, WORK, FORMAT>;
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024);
  for (int wgs : {1, 2, 4}) {
    if (N > 128 && wgs > 2) continue;
    for (int i = 0; i < 3; i++) k<<<1, 128 * wgs, 200 * 1024>>>(out, seed);
    long long c = 0;
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(&c, out, 8, cudaMemcpyDeviceToHost);
    printf("%d,%s,%d,%d,%d,%.1f,%.1f%s\n", N, RS ? "registers" : "shared", wgs, WORK, FORMAT, double(c) / STEPS / 4 / wgs, N / 2.,
           e ? cudaGetErrorString(e) : "");
  }
}
template <int N> void all(long long* out, uint32_t* seed) {
  run<N, true, 0>(out, seed);
  run<N, true, 16>(out, seed);
  run<N, false, 0>(out, seed);
  run<N, false, 16>(out, seed);
}
int main() {
  long long* out;
  uint32_t* seed;
  cudaMalloc(&out, 64);
  cudaMalloc(&seed, 4096 * 4);
  std::vector<uint32_t> h(4096);
  for (size_t i = 0; i < h.size(); i++) h[i] = i * 2654435761u;
  cudaMemcpy(seed, h.data(), 4096 * 4, cudaMemcpyHostToDevice);
  printf("N,A,warpgroups,decoded,format,clocks_per_wgmma,clocks_of_products\n");
  all<32>(out, seed);
  all<64>(out, seed);
  all<96>(out, seed);
  all<128>(out, seed);
  all<192>(out, seed);
  all<256>(out, seed);
  run<128, true, 16, 1>(out, seed);
  run<128, true, 16, 2>(out, seed);
  run<256, true, 16, 1>(out, seed);
  run<256, true, 16, 2>(out, seed);
  int* wrong = (int*)out;
  int n = 0;
  cudaMemset(wrong, 0, 4);
  check<<<4, 256>>>(wrong);
  cudaMemcpy(&n, wrong, 4, cudaMemcpyDeviceToHost);
  printf("wrong codes: %d, %s\n", n, cudaGetErrorString(cudaGetLastError()));
  return 0;
}
