import { assertStrictEquals } from "@std/assert";
import { e4m3 } from "../../bench/formats/minifloat.ts";
import { decode, encode } from "../../bench/model/dtype.ts";
import {
  compileCuda,
  type Planted,
  plantedTests,
  run,
} from "../testdata/cuda_lanes.ts";
import { cudaTest } from "../testdata/cuda_mocks.ts";

// 64 x N += 64 x 64 . 64 x N, by four products of k16. In `in`: what the threads have of the
// first operand, 16 words each, and the second in the 128-byte swizzle.
const PRODUCT = `
SHARED_MEMORY(1024);
extern "C" __global__ void __launch_bounds__(128) k(const unsigned* in, float* out, int n) {
  unsigned m = shared_address(memory), bar = m + COLUMNS * 128, a[16], t = threadIdx.x;
  const unsigned* mine = in + blockIdx.x * 2048 + t * 16;
  if (t == 0) {
    barrier_open(bar, COLUMNS * 128);
    copy_bulk(m, in + BLOCKS * 2048, COLUMNS * 128, bar, evict_normal());
  }
  for (int i = 0; i < 16; i++) a[i] = mine[i];
  __syncthreads();
  barrier_wait(bar, 0);
  float d[COLUMNS / 2];
  for (int i = 0; i < COLUMNS / 2; i++) d[i] = 0;
  for (int j = 0; j < 4; j++) {
    wgmma_fence();
    wgmma<COLUMNS>(d, a + 4 * j, (m + 32 * j) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62);
    wgmma_commit();
  }
  wgmma_wait<0>();
  for (int i = 0; i < COLUMNS / 2; i++) out[(blockIdx.x * 128 + t) * COLUMNS / 2 + i] = d[i];
}`;

const BLOCKS = 64;
/** A row's only k, another one for each row of a block. */
const hot = (block: number, row: number) => (row * 7 + block) % 64;
/** Different where it matters, and exact in f16. */
const value = (k: number, col: number) => (col * 131 + k * 29) % 2039;

/** Block, row and column of a sum, of n columns, as the threads' registers follow one another. */
function placeOf(at: number, n: number): readonly [number, number, number] {
  const [i, thread] = [at % (n / 2), Math.floor(at / (n / 2)) % 128];
  const lane = thread & 31;
  return [
    Math.floor(at / 64 / n),
    (thread >> 5) * 16 + (lane >> 2) + (i >> 1 & 1) * 8,
    (i >> 2) * 8 + lane % 4 * 2 + (i & 1),
  ];
}

for (const n of [8, 24, 256]) {
  cudaTest(
    `wgmma<${n}>() has the documented lanes and swizzle, by rows with one element`,
    async (device) => {
      const binary = await compileCuda(PRODUCT, { COLUMNS: n, BLOCKS });
      const a: number[] = [];
      for (let block = 0; block < BLOCKS; block++) {
        for (let thread = 0; thread < 128; thread++) {
          const [warp, lane] = [thread >> 5, thread & 31];
          for (let step = 0; step < 4; step++) {
            for (let i = 0; i < 8; i++) {
              const low = i < 2 || (i >= 4 && i < 6);
              const row = warp * 16 + (lane >> 2) + (low ? 0 : 8);
              const k = step * 16 + lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8);
              a.push(hot(block, row) === k ? 1 : 0);
            }
          }
        }
      }
      const b = swizzled(n, (col, k) => value(k, col));
      const d = decode(
        run(device, binary, {
          input: encode([...a, ...b], "f16"),
          bytes: BLOCKS * 64 * n * 4,
          grid: BLOCKS,
          shared: n * 128 + 8,
        }),
        "f32",
      );
      d.forEach((x, at) => {
        const [block, row, col] = placeOf(at, n);
        assertStrictEquals(x, value(hot(block, row), col), `${row}, ${col}`);
      });
    },
  );
}

/** The same with both operands in shared memory, as plain stores bring them. */
const fromShared = (multiply: string) => `
SHARED_MEMORY(1024);
extern "C" __global__ void __launch_bounds__(128) k(const unsigned* in, float* out, int n) {
  unsigned m = shared_address(memory), t = threadIdx.x;
  const unsigned* mine = in + blockIdx.x * 2048;
  for (int i = t; i < 2048; i += 128) ((unsigned*)memory)[i] = mine[i];
  for (int i = t; i < COLUMNS * 32; i += 128) ((unsigned*)memory)[2048 + i] = in[BLOCKS * 2048 + i];
  show_products();
  __syncthreads();
  float d[COLUMNS / 2];
  for (int i = 0; i < COLUMNS / 2; i++) d[i] = START;
  wgmma_fence();
  for (int j = 0; j < 4; j++) ${multiply};
  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < COLUMNS / 2; i++) out[(blockIdx.x * 128 + t) * COLUMNS / 2 + i] = d[i];
}`;

/** Rows of `depth` elements, of which 16-byte chunk c of row r is at chunk c ^ r % 8. */
const swizzled = (
  rows: number,
  value: (row: number, k: number) => number,
  depth = 64,
) =>
  Array.from({ length: rows * depth }, (_, at) => {
    const per = depth / 8, row = Math.floor(at / depth);
    const chunk = Math.floor(at / per) % 8 ^ row % 8;
    return value(row, chunk * per + at % per);
  });

// Exact in bf16 too, and in E4M3, where a product that replaces the sums is the first.
const small = (k: number, col: number) => (col * 131 + k * 29) % 251;
const tiny = (k: number, col: number) =>
  e4m3.values[(col * 131 + k * 29) % 127]!;
for (
  const { type, n, depth, byRows, of, multiply } of [
    ...([["f16", 8], ["bf16", 40]] as const).map(([type, n]) => ({
      type,
      n,
      depth: 64,
      byRows: false,
      of: small,
      multiply:
        `wgmma_${type}<COLUMNS>(d, descriptor(m, j), descriptor(m + 8192, j))`,
    })),
    // Of the first operand rows of K are lines, and its rows are columns of these.
    ...([["f16", 24], ["bf16", 256]] as const).map(([type, n]) => ({
      type,
      n,
      depth: 64,
      byRows: true,
      of: small,
      multiply:
        `wgmma_${type}_m_major<COLUMNS>(d, descriptor_mn(m + j * 2048, 0), descriptor(m + 8192, j))`,
    })),
    ...[8, 128].map((n) => ({
      type: "e4m3" as const,
      n,
      depth: 128,
      byRows: false,
      of: tiny,
      multiply:
        "wgmma_e4m3<COLUMNS>(d, descriptor(m, j), descriptor(m + 8192, j), j > 0)",
    })),
  ]
) {
  cudaTest(
    `${
      /\w+/.exec(multiply)
    }<${n}>() reads the swizzle on both sides, by rows with one element`,
    async (device) => {
      const hot = (block: number, row: number) => (row * 7 + block) % depth;
      const binary = await compileCuda(fromShared(multiply), {
        COLUMNS: n,
        BLOCKS,
        START: type === "e4m3" ? 7 : 0,
      });
      const a = Array.from(
        { length: BLOCKS },
        (_, block) =>
          swizzled(64, (line, at) => {
            const [row, k] = byRows ? [at, line] : [line, at];
            return hot(block, row) === k ? 1 : 0;
          }, depth),
      );
      const d = decode(
        run(device, binary, {
          input: encode(
            [...a.flat(), ...swizzled(n, (col, k) => of(k, col), depth)],
            type,
          ),
          bytes: BLOCKS * 64 * n * 4,
          grid: BLOCKS,
          shared: 8192 + n * 128,
        }),
        "f32",
      );
      d.forEach((x, at) => {
        const [block, row, col] = placeOf(at, n);
        assertStrictEquals(x, of(hot(block, row), col), `${row}, ${col}`);
      });
    },
  );
}

const WAITED = `unsigned a[4] = {};
  float d[4] = {};
  if (t == 0) { barrier_open(m, 1024); copy_bulk(m + 1024 - m % 1024, in, 1024, m, evict_first()); }
  __syncthreads();
  barrier_wait(m, 0);
  wgmma_fence();
  wgmma<8>(d, a, (m + 1024 - m % 1024) >> 4 | 64ull << 32 | 1ull << 62);
  wgmma_commit();
  wgmma_wait<0>();
  __syncthreads();
  if (t == 0) s[256 - m % 1024 / 4] = 1;
  out[t] = d[0];`;

// The threads copy the second operand themselves.
const SHOWN = `unsigned to = m + 1024 - m % 1024;
  float d[4] = {};
  if (t < 64) copy_async_16_line(to + t * 16, in + t * 4);
  commit_copies();
  wait_copies<0>();
  show_products();
  __syncthreads();
  unsigned a[4] = {};
  wgmma_fence();
  wgmma<8>(d, a, descriptor(to, 0));
  wgmma_commit();
  wgmma_wait<0>();
  out[t] = d[0];`;

// The second operand is stored by rows, and its second box of 64 columns ends where the memory does.
const BY_ROWS = `unsigned to = m + 1024 - m % 1024;
  float d[64] = {};
  for (int i = t; i < 2048; i += n) s[(to - m) / 4 + i] = 0;
  show_products();
  __syncthreads();
  wgmma_fence();
  wgmma_f16_mn<128>(d, descriptor(to, 0), descriptor_mn(to + 4096, 2048));
  wgmma_commit();
  wgmma_wait<0>();
  out[n * blockIdx.x + t] = d[0];`;

const PLANTED: readonly Planted[] = [
  {
    name: "a block's rank reaches an operand's stride",
    grid: 2,
    cluster: 2,
    shared: 896 + 8192,
    right: BY_ROWS,
    from: "descriptor_mn(to + 4096, 2048)",
    to: "(to + 4096) >> 4 | 2048ull << 12 | 64ull << 32 | 1ull << 62",
    found: /reads bytes 9088 to 9104 of the block's 9088 bytes of memory/,
  },
  {
    name: "a product reads copies that nobody showed it",
    block: 128,
    shared: 4096,
    right: SHOWN,
    from: "show_products();",
    to: "",
    found: /without a fence of proxies/,
  },
  {
    name: "a product is shown copies before they have come",
    block: 128,
    shared: 4096,
    right: SHOWN,
    from: "wait_copies<0>();\n  show_products();",
    to: "show_products();\n  wait_copies<0>();",
    found: /without a fence of proxies/,
  },
  {
    name: "copies are shown to products once others are told of them",
    block: 128,
    shared: 4096,
    right: SHOWN,
    from: "show_products();\n  __syncthreads();",
    to: "__syncthreads();\n  show_products();",
    found: /without a fence of proxies/,
  },
  {
    name: "memory is written to while a product reads it",
    block: 128,
    shared: 4096,
    right: WAITED,
    from: "wgmma_wait<0>();\n  __syncthreads();",
    to: "__syncthreads();",
    found: /a copy or a product read it/,
  },
  {
    name: "a product is not waited for",
    block: 128,
    shared: 4096,
    right: WAITED,
    from:
      "wgmma_wait<0>();\n  __syncthreads();\n  if (t == 0) s[256 - m % 1024 / 4] = 1;",
    to: "",
    found: /a wave ends while products of its are under way/,
  },
  {
    name: "a product's registers are not fenced",
    block: 128,
    shared: 4096,
    right: WAITED,
    from: "wgmma_fence();",
    to: "",
    found: /without wgmma.fence/,
  },
  {
    name: "a product's operand starts within an atom",
    block: 128,
    shared: 4096,
    right: WAITED,
    from: "1024 - m % 1024) >> 4",
    to: "1152 - m % 1024) >> 4",
    found: /which is not where an atom of 1024 bytes starts/,
  },
  {
    name: "a product reads what plain stores wrote",
    block: 128,
    shared: 4096,
    right: WAITED,
    from: "wgmma_fence();",
    to:
      "__syncthreads(); s[256 - m % 1024 / 4 + t % 8] = 1; __syncthreads(); wgmma_fence();",
    found: /a race in|without a fence of proxies/,
  },
];

plantedTests(PLANTED);
