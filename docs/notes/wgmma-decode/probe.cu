// Which tensor-map copies of 4-bit codes and their scales work: each case in a process of its own.
//   probe CASE: 0 codes as bytes, 1 codes as bf16, 2-5 scales from column 0, 4, 8, 60
#include <stdio.h>
#include <stdlib.h>
#include "gemm.cuh"
typedef CUresult (*Encode)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                           const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
__global__ void copy(const __grid_constant__ CUtensorMap map, int col, int row, int bytes, unsigned* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  uint32_t base = (smem_u32(memory) + 1023) & ~1023u, bar = base + 65536;
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    mbar_expect(bar, bytes);
    tma(base, &map, col, row, bar);
  }
  __syncthreads();
  mbar_wait(bar, 0);
  uint32_t w[4];
  lds128(w, base + threadIdx.x * 16);
  if (threadIdx.x == 0) out[0] = w[0], out[1] = w[1];
}
int main(int, char** argv) {
  int c = atoi(argv[1]);
  Encode encode;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000, cudaEnableDefault, &found);
  unsigned char* p;
  unsigned* out;
  cudaMalloc(&p, 4096 * 2048);
  cudaMalloc(&out, 64);
  unsigned short* h = (unsigned short*)malloc(4096 * 2048);
  for (int i = 0; i < 4096 * 1024; i++) h[i] = i;
  cudaMemcpy(p, h, 4096 * 2048, cudaMemcpyHostToDevice);
  bool codes = c < 2;
  int size = c == 0 ? 1 : 2, cols = codes ? 2048 / size : 64;
  cuuint64_t dims[] = {(cuuint64_t)cols, 4096}, strides[] = {(cuuint64_t)cols * size};
  cuuint32_t box[] = {codes ? 128u / size : 8u, 256}, steps[] = {1, 1};
  CUtensorMap m;
  int e = encode(&m, c == 0 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p, dims, strides, box, steps,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, codes ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  int columns[] = {0, 0, 0, 4, 8, 60};
  cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, 70000);
  copy<<<1, 128, 70000>>>(m, columns[c], 0, codes ? 32768 : 4096, out);
  unsigned r[2];
  auto x = cudaMemcpy(r, out, 8, cudaMemcpyDeviceToHost);
  printf("probe %d: encode %d, %s, %08x %08x\n", c, e, cudaGetErrorString(x), r[0], r[1]);
}
