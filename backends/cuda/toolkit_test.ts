import { assertMatch, assertStrictEquals } from "@std/assert";
import { i32, mem } from "../../bench/device/queue.ts";
import { e4m3, e5m2 } from "../../bench/formats/minifloat.ts";
import { compileCuda, run, said } from "../testdata/cuda_lanes.ts";
import { cudaTest } from "../testdata/cuda_mocks.ts";

// Kernels as people write them, with the toolkit's own headers and words.
const TILED = `
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#define TILE 16
template <class T> __device__ float widen(T x) { return __bfloat162float(x); }

// C = A . B of bf16, by tiles of 16 x 16.
extern "C" __global__ void __launch_bounds__(TILE * TILE)
tiled(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B,
      __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  __shared__ __nv_bfloat16 a[TILE][TILE + 1];
  __shared__ __align__(16) __nv_bfloat16 b[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
  float sum = 0.0f;
  for (int k = 0; k < K; k += TILE) {
    a[y][x] = row < M && k + x < K ? A[row * K + k + x] : __float2bfloat16(0.0f);
    b[y][x] = k + y < K && col < N ? B[(k + y) * N + col] : __float2bfloat16(0.0f);
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < TILE; i++) sum += widen(a[y][i]) * widen(b[i][x]);
    LAST_SYNC
  }
  if (row < M && col < N) C[row * N + col] = __float2bfloat16(sum);
}`;

for (const sync of ["__syncthreads();", ""]) {
  cudaTest(
    `a tiled kernel ${sync === "" ? "without" : "with"} its last barrier`,
    async (device, mock) => {
      const binary = await compileCuda(TILED, { LAST_SYNC: sync });
      const [M, N, K] = [19, 35, 50];
      const bf16 = (length: number) =>
        Uint16Array.from({ length }, (_, i) => {
          const x = Float32Array.of(i * 37 % 17 - 8);
          return new Uint32Array(x.buffer)[0]! >>> 16;
        });
      const wide = (x: number) =>
        new Float32Array(Uint32Array.of(x << 16).buffer)[0]!;
      const [a, b] = [bf16(M * K), bf16(K * N)];
      using module = device.load(binary);
      using A = device.alloc(a.byteLength);
      using B = device.alloc(b.byteLength);
      using C = device.alloc(2 * M * N);
      A.upload(new Uint8Array(a.buffer));
      B.upload(new Uint8Array(b.buffer));
      mock.seed(3);
      module.program("tiled").step(
        [mem(A), mem(B), mem(C), i32(M), i32(N), i32(K)],
        { grid: [Math.ceil(N / 16), Math.ceil(M / 16), 1], block: [16, 16, 1] },
      ).enqueue();
      const text = failureOf(() => device.synchronize());
      if (sync === "") {
        assertMatch(
          text,
          /a race in the kernel's shared variables at byte \d+: .*nothing orders them/,
        );
        return;
      }
      assertStrictEquals(text, "");
      const c = new Uint16Array(C.download().buffer);
      for (let i = 0; i < M * N; i++) {
        let sum = 0;
        for (let k = 0; k < K; k++) {
          sum += wide(a[Math.floor(i / N) * K + k]!) * wide(b[k * N + i % N]!);
        }
        const error = Math.abs(wide(c[i]!) - sum);
        assertStrictEquals(error <= Math.abs(sum) / 256, true, `C[${i}]`);
      }
    },
  );
}

function failureOf(work: () => void): string {
  try {
    work();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

// out[0]: the sum of in[0..n) with shared memory of the launch's size, shuffles and an atomic.
const REDUCE = `
extern "C" __global__ void k(const unsigned* in, unsigned* out, int n) {
  extern __shared__ __align__(16) unsigned words[];
  __shared__ unsigned parts[32];
  static __shared__ unsigned count;
  const int t = threadIdx.x;
  if (t == 0) count = 0;
  words[t] = __ldg(in + blockIdx.x * n + t);
  __syncthreads();
  unsigned x = words[n - 1 - t];
  for (int apart = warpSize / 2; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffff, x, apart);
  if (t % 32 == 0) parts[t / 32] = x, atomicAdd(&count, 1);
  __syncthreads();
  if (t < 32) {
    unsigned sum = t < count ? parts[t] : 0;
    for (int by = 16; by > 0; by >>= 1) sum += __shfl_down_sync(0xffffffff, sum, by);
    if (t == 0) atomicAdd(out, sum);
  }
}`;

cudaTest(
  "shared memory of both kinds, shuffles and atomics",
  async (device) => {
    const input = Uint32Array.from({ length: 512 }, (_, i) => i * i);
    const bytes = new Uint8Array(input.buffer);
    const binary = await compileCuda(REDUCE);
    const out = run(device, binary, { input: bytes, grid: 4, shared: 512 });
    const sum = input.reduce((a, b) => a + b, 0);
    assertStrictEquals(new Uint32Array(out.buffer)[0], sum);
    assertMatch(
      said(device, binary, { shared: 508 }),
      /writes bytes 508 to 512 of the block's 508 bytes of memory/,
    );
  },
);

// The last block adds up what the others wrote before a fence.
const LAST_BLOCK = `
__device__ unsigned partial[64], done;
extern "C" __global__ void k(const unsigned* in, unsigned* out, int n) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = in[blockIdx.x];
    FENCE
    last = atomicInc(out, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    unsigned sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += out[1 + i];
    out[100] = sum;
  }
}`;

cudaTest("a fence before an atomic orders blocks", async (device, mock) => {
  const input = new Uint8Array(
    Uint32Array.from({ length: 16 }, (_, i) => i).buffer,
  );
  const right = await compileCuda(LAST_BLOCK, { FENCE: "__threadfence();" });
  const wrong = await compileCuda(LAST_BLOCK, { FENCE: "" });
  for (const seed of [1, 2, 3]) {
    mock.seed(seed);
    const out = run(device, right, { input, grid: 16 });
    assertStrictEquals(new Uint32Array(out.buffer)[100], 120);
  }
  assertMatch(said(device, wrong, { grid: 16 }), /a race in global memory/);
});

const TYPES = `
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
extern "C" __global__ void k(const float* in, unsigned short* out, int n) {
  const int t = threadIdx.x;
  const float x = in[t], y = in[t + n];
  out[t] = __half_as_ushort(__float2half(x));
  out[t + n] = __bfloat16_as_ushort(__float2bfloat16_rn(x));
  out[t + 2 * n] = __half_as_ushort(__hfma(__half(x), __half(y), __half(1.0f)));
  __nv_bfloat162 pair = __floats2bfloat162_rn(x, y) * __float2bfloat162_rn(2.0f);
  out[t + 3 * n] = __bfloat16_as_ushort(__high2bfloat16(pair));
  out[t + 4 * n] = __nv_fp8_e4m3(x).__x;
  out[t + 5 * n] = __nv_fp8_e5m2(x).__x;
  __nv_fp8_e4m3 code;
  code.__x = t;
  out[t + 6 * n] = __half_as_ushort(__half((float)code));
  float2 wide = __half22float2(__floats2half2_rn(x, y));
  out[t + 7 * n] = __half_as_ushort(__float2half(wide.x - wide.y));
}`;

cudaTest("types of cuda_fp16.h, cuda_bf16.h and cuda_fp8.h", async (device) => {
  const n = 128;
  // Signs, subnormal numbers, ties and what is too large.
  const input = Float32Array.from(
    { length: 2 * n },
    (_, i) =>
      (i % 2 ? -1 : 1) * 2 ** (i % 37 - 20) * (1 + (i * 89 % 512) / 512),
  );
  const bytes = new Uint8Array(input.buffer);
  const out = run(device, await compileCuda(TYPES), { input: bytes, block: n });
  const words = new Uint16Array(out.buffer);
  const half = (x: number) => new Uint16Array(Float16Array.of(x).buffer)[0]!;
  const brain = (x: number) => {
    const bits = new Uint32Array(Float32Array.of(x).buffer)[0]!;
    return bits + 0x7fff + (bits >>> 16 & 1) >>> 16;
  };
  for (let t = 0; t < n; t++) {
    const [x, y] = [input[t]!, input[t + n]!];
    const want = [
      half(x),
      brain(x),
      half(Math.f16round(x) * Math.f16round(y) + 1),
      brain(2 * y),
      e4m3.encode(x),
      e5m2.encode(x),
      half(e4m3.values[t]!),
      half(Math.f16round(x) - Math.f16round(y)),
    ];
    want.forEach((w, i) => {
      const got = words[t + i * n]!;
      assertStrictEquals(
        isNan(got, i) && isNan(w, i) || got === w,
        true,
        `${i} of ${x}, ${y}: ${got}, not ${w}`,
      );
    });
  }
});

/** Whether the code of the type of the `i`th result is a NaN of any kind. */
function isNan(code: number, i: number): boolean {
  return i !== 4 && i !== 5 && (code & 0x7fff) > 0x7c00 && i !== 1 && i !== 3;
}

for (
  const [source, found] of [
    ['extern "C" __global__ void mine(float *x) { *x = 1; }', true],
    ['extern "C" { __global__ void mine(float *x) { *x = 1; } }', true],
    [
      'extern "C" { int a(); } __global__ void mine(float *x) { *x = 1; }',
      false,
    ],
    ["__global__ void mine(float *x) { *x = 1; }", false],
  ] as const
) {
  cudaTest(
    `a kernel ${found ? "with" : "without"} C linkage: ${source}`,
    async (device) => {
      using module = device.load(await compileCuda(source));
      if (found) return void module.program("mine");
      assertMatch(
        failureOf(() => module.program("mine")),
        /^Cannot find the entry mine in .*: declare it extern "C"/,
      );
    },
  );
}
