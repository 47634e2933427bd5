import { assertStrictEquals } from "@std/assert";
import {
  compileCuda,
  type Planted,
  plantedTests,
  run,
} from "../testdata/cuda_lanes.ts";
import { cudaTest } from "../testdata/cuda_mocks.ts";

/**
 * 128 G x 16 G = 128 G x 64 . 64 x 16 G, all ones, but twos in what the second block of a pair has;
 * sums in columns from 0 on, scales of one in columns from 32 on.
 */
const product = (G: 1 | 2) => `
  unsigned b = m + (1024 - m % 1024) % 1024, slot = b + 18944, bar = slot + 8, r = cluster_rank();
  for (int i = t; i < 4736; i += n)
    store_shared_u32(b + 4 * i, i >= 4608 ? 0x38383838 : r ? 0x44444444 : 0x22222222);
  show_products();
  if (t == 0) barrier_init(bar, 1), barrier_made();
  if (t < 32) tensor_alloc<${G}>(slot, 64);
  tensor_fence_before();
  __syncthreads(); cluster_sync();
  tensor_fence_after();
  unsigned d = load_shared_u32(slot);
  if (t == 0 && r == 0) {
    tensor_copy<${G}>(d + 32, (b + 18432) >> 4 | 8ull << 32 | 1ull << 46);
    tensor_multiply<${G}>(d, b >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61,
      (b + 16384) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61,
      1u << 7 | 1u << 10 | ${
  2 * G
}u << 17 | ${G}u << 27, d + 32, d + 32, false);
    tensor_commit_to_all<${G}>(bar, ${G === 1 ? 1 : 3});
  }
  __syncwarp();
  barrier_wait(bar, 0);
  tensor_fence_after();
  for (int c = 0; c < ${16 * G}; c += 16) {
    float x[16];
    tensor_load(x, d + c + (t / 32 * 32 << 16));
    for (int i = 0; i < 16; i++) out[((r * n + t) * ${16 * G} + c + i)] = x[i];
  }
  tensor_fence_before();
  __syncthreads(); cluster_sync();
  tensor_fence_after();
  if (t < 32) tensor_free<${G}>(d, 64);`;

for (const G of [1, 2] as const) {
  cudaTest(
    `a product of ${G} x 128 rows has each block's rows, and the columns of all`,
    async (device) => {
      const binary = await compileCuda(`SHARED_MEMORY(128);
        extern "C" __global__ void __launch_bounds__(128)
        k(const unsigned* in, unsigned* out, int n) {
          unsigned t = threadIdx.x, m = shared_address(memory);${product(G)}
        }`);
      const columns = 16 * G;
      const bytes = run(device, binary, {
        input: new Uint8Array(4),
        bytes: 128 * G * columns * 4,
        grid: G,
        cluster: G,
        shared: 20480,
      });
      new Uint32Array(bytes.buffer).forEach((sum, i) => {
        const [row, column] = [Math.floor(i / columns), i % columns];
        const want = 64 * (row < 128 ? 1 : 2) * (column < 16 ? 1 : 2);
        assertStrictEquals(sum, want, `row ${row}, column ${column}`);
      });
    },
  );
}

/** A mistake in a kernel of one block, or of a pair. */
function planted(
  name: string,
  [from, to]: readonly [string, string],
  found: RegExp,
  G: 1 | 2 = 1,
): Planted {
  return {
    name,
    from,
    to,
    found,
    right: product(G),
    grid: G,
    cluster: G,
    shared: 20480,
    bytes: G * G * 8192,
  };
}

plantedTests([
  planted("a product reads plain stores", [
    "show_products();",
    "",
  ], /without a fence of proxies/),
  planted("an allocation is not fenced before others use it", [
    "tensor_fence_before();",
    "",
  ], /without tcgen05.fence::before_thread_sync/),
  planted("tensor memory is used without a fence after the barrier", [
    "tensor_fence_after();",
    "",
  ], /without tcgen05.fence::after_thread_sync/),
  planted("sums are loaded before the product is done", [
    "barrier_wait(bar, 0);",
    "",
  ], /a race in tensor memory/),
  planted("a product is not committed", [
    "tensor_commit_to_all<1>(bar, 1);",
    "",
  ], /waits for ever/),
  planted("a commit tells a barrier that was not fenced", [
    ", barrier_made();",
    ";",
  ], /without a fence after its making/),
  planted("scales are replaced while a product may read them", [
    "tensor_commit_to_all<1>(bar, 1);",
    "tensor_copy<1>(d + 32, (b + 18432) >> 4 | 8ull << 32 | 1ull << 46); tensor_commit_to_all<1>(bar, 1);",
  ], /a race in tensor memory at column 32: it was read/),
  planted("an operand is written to while a product reads it", [
    "tensor_commit_to_all<1>(bar, 1);",
    "tensor_commit_to_all<1>(bar, 1), store_shared_u32(b, 0);",
  ], /a copy or a product read it/),
  planted("a warp loads another's lanes", [
    "(t / 32 * 32 << 16)",
    "(0 << 16)",
  ], /loads lane 0 of tensor memory, and has those from \d+ on/),
  planted("scales are beyond what is allocated", [
    "tensor_copy<1>(d + 32,",
    "tensor_copy<1>(d + 62,",
  ], /columns \d+ to \d+ are allocated/),
  planted("an allocation is of no power of two", [
    "tensor_alloc<1>(slot, 64);",
    "tensor_alloc<1>(slot, 48);",
  ], /allocates 48 columns/),
  planted("half of an allocation is freed", [
    "tensor_free<1>(d, 64);",
    "tensor_free<1>(d, 32);",
  ], /frees 32 columns/),
  planted("tensor memory is not freed", [
    "if (t < 32) tensor_free<1>(d, 64);",
    "",
  ], /was not freed/),
  planted(
    "a block of a pair ends before the other's products",
    ["barrier_wait(bar, 0);", "if (r == 1) return; barrier_wait(bar, 0);"],
    /has ended|was not freed|under way/,
    2,
  ),
  planted(
    "a commit tells one block of a pair",
    ["tensor_commit_to_all<2>(bar, 3);", "tensor_commit_to_all<2>(bar, 1);"],
    /waits for ever/,
    2,
  ),
  planted(
    "a pair's product has the rows of one block",
    ["2u << 27", "1u << 27"],
    /a product of 128 rows and 32 columns by 2 blocks/,
    2,
  ),
  planted(
    "a pair's tensor memory is used for one block",
    ["tensor_copy<2>", "tensor_copy<1>"],
    /allocated for a pair is used for one block/,
    2,
  ),
]);
