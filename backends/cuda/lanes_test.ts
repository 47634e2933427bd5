import { assertEquals, assertStrictEquals } from "@std/assert";
import { decode, type DType, encode } from "../../bench/model/dtype.ts";
import { compileCuda, run } from "../testdata/cuda_lanes.ts";
import { cudaTest } from "../testdata/cuda_mocks.ts";

// Fragments of mma.m16n8k16 as the PTX ISA writes them: element i of a lane.
const group = (lane: number) => lane >> 2;
const inGroup = (lane: number) => lane % 4;
const rowOfA = (lane: number, i: number) =>
  (i >= 0 && i < 2) || (i >= 4 && i < 6) ? group(lane) : group(lane) + 8;
const colOfA = (lane: number, i: number) =>
  i < 4 ? inGroup(lane) * 2 + (i & 1) : inGroup(lane) * 2 + (i & 1) + 8;
const rowOfB = (lane: number, i: number) =>
  i < 2 ? inGroup(lane) * 2 + (i & 1) : inGroup(lane) * 2 + (i & 1) + 8;
const colOfB = group;
const rowOfC = (lane: number, i: number) =>
  i < 2 ? group(lane) : group(lane) + 8;
const colOfC = (lane: number, i: number) => inGroup(lane) * 2 + (i & 1);

const MMA = `
extern "C" __global__ void __launch_bounds__(32) k(const unsigned* in, float* out, int n) {
  const unsigned* mine = in + (blockIdx.x * 32 + threadIdx.x) * 6;
  unsigned a[4], b[2];
  float d[4] = {};
  for (int i = 0; i < 4; i++) a[i] = mine[i];
  for (int i = 0; i < 2; i++) b[i] = mine[4 + i];
  MMA(d, d + 2, a, b);
  for (int i = 0; i < 4; i++) out[(blockIdx.x * 32 + threadIdx.x) * 4 + i] = d[i];
}`;

type Matrix = (row: number, col: number) => number;

for (const type of ["f16", "bf16"] as const) {
  cudaTest(
    `mma_${type}() has the documented lanes, by one-hot matrices`,
    async (device) => {
      const binary = await compileCuda(MMA, { MMA: `mma_${type}` });
      // Whole numbers up to 256, which both types have.
      const filledA: Matrix = (row, k) => row * 16 + k + 1;
      const filledB: Matrix = (k, col) => k * 8 + col + 1;
      const places = [];
      for (let row = 0; row < 16; row++) {
        for (let k = 0; k < 16; k++) places.push({ row, k, ofA: true });
      }
      for (let k = 0; k < 16; k++) {
        for (let col = 0; col < 8; col++) {
          places.push({ row: k, k: col, ofA: false });
        }
      }
      const values = places.flatMap(({ row, k, ofA }) => {
        const hot: Matrix = (i, j) => i === row && j === k ? 1 : 0;
        const [a, b] = ofA ? [hot, filledB] : [filledA, hot];
        return Array.from({ length: 32 * 12 }, (_, at) => {
          const [lane, i] = [Math.floor(at / 12), at % 12];
          return i < 8
            ? a(rowOfA(lane, i), colOfA(lane, i))
            : b(rowOfB(lane, i - 8), colOfB(lane));
        });
      });
      const c = decode(
        run(device, binary, {
          input: encode(values, type),
          bytes: places.length * 512,
          grid: places.length,
          block: 32,
        }),
        "f32",
      );
      places.forEach(({ row, k, ofA }, place) => {
        for (let at = 0; at < 128; at++) {
          const lane = at >> 2;
          const i = rowOfC(lane, at & 3);
          const j = colOfC(lane, at & 3);
          const expected = ofA
            ? (i === row ? filledB(k, j) : 0)
            : (j === k ? filledA(i, row) : 0);
          assertStrictEquals(
            c[place * 128 + at],
            expected,
            `${place}: ${i}, ${j}`,
          );
        }
      });
    },
  );
}

// Element (row, col) of matrix x is 64 x + 8 row + col.
const MATRICES = `
SHARED_MEMORY(128);
extern "C" __global__ void __launch_bounds__(32)
load_four(const unsigned* in, unsigned* out, int n) {
  unsigned m = shared_address(memory), r[4], t = threadIdx.x;
  for (int i = 0; i < 8; i++) ((unsigned short*)memory)[t * 8 + i] = t * 8 + i;
  __syncwarp();
  ldmatrix<DOWN>(r, m + t * 16);
  for (int i = 0; i < 4; i++) out[t * 4 + i] = r[i];
}
extern "C" __global__ void __launch_bounds__(32)
store_four(const unsigned* in, unsigned* out, int n) {
  unsigned m = shared_address(memory), r[4], t = threadIdx.x;
  for (int i = 0; i < 4; i++) r[i] = in[t * 4 + i];
  stmatrix_transposed(m + t * 16, r);
  __syncwarp();
  for (int i = 0; i < 4; i++) out[t * 4 + i] = ((unsigned*)memory)[t * 4 + i];
}
extern "C" __global__ void __launch_bounds__(32)
store_two(const unsigned* in, unsigned* out, int n) {
  unsigned m = shared_address(memory), t = threadIdx.x, r[2] = {in[t * 4], in[t * 4 + 1]};
  // The addresses of lanes from 16 on are not used.
  stmatrix_transposed(t < 16 ? m + t * 16 : ~0u, r);
  __syncwarp();
  for (int i = 0; i < 2; i++) out[t * 2 + i] = ((unsigned*)memory)[t * 2 + i];
}`;

/** What a lane has of four matrices: two elements of each. */
function held(lane: number, transposed: boolean): number[] {
  return [0, 1, 2, 3].flatMap((x) =>
    [0, 1].map((h) => {
      const [along, across] = [2 * inGroup(lane) + h, group(lane)];
      const [row, col] = transposed ? [along, across] : [across, along];
      return 64 * x + 8 * row + col;
    })
  );
}
const LANES = Array.from({ length: 32 }, (_, lane) => lane);

for (const transposed of [false, true]) {
  cudaTest(
    `ldmatrix<${transposed}>() gives each lane what PTX says`,
    async (device) => {
      const binary = await compileCuda(MATRICES, {
        DOWN: `${transposed}`,
      });
      const out = run(device, binary, {
        entry: "load_four",
        input: new Uint8Array(4),
        bytes: 512,
        block: 32,
      });
      assertEquals(
        [...new Uint16Array(out.buffer)],
        LANES.flatMap((lane) => held(lane, transposed)),
      );
    },
  );
}

for (const [entry, count] of [["store_four", 4], ["store_two", 2]] as const) {
  cudaTest(
    `stmatrix_transposed() of ${count} matrices is the inverse of ldmatrix<true>()`,
    async (device) => {
      const binary = await compileCuda(MATRICES, { DOWN: "true" });
      const registers = LANES.flatMap((lane) => held(lane, true));
      const out = run(device, binary, {
        entry,
        input: new Uint8Array(Uint16Array.from(registers).buffer),
        bytes: 128 * count,
        block: 32,
      });
      assertEquals(
        [...new Uint16Array(out.buffer)],
        Array.from({ length: 64 * count }, (_, i) => i),
      );
    },
  );
}

const CONVERT = `
extern "C" __global__ void __launch_bounds__(256) k(const unsigned* in, unsigned* out, int n) {
  for (int i = threadIdx.x; i < WORDS; i += n) out[i] = CONVERT;
}`;

/** What the kernel makes of words. */
async function converted(
  device: Parameters<typeof run>[0],
  expression: string,
  words: Uint32Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const count = words.length;
  const binary = await compileCuda(
    CONVERT.replace("CONVERT", () => expression),
    { WORDS: count / (expression.includes("in[2") ? 2 : 1) },
  );
  const input = new Uint8Array(words.buffer);
  return run(device, binary, { input, bytes: 4 * count, block: 256 });
}

cudaTest("e4m3_to_2f16() gives each code's value", async (device) => {
  const codes = Uint8Array.from({ length: 512 }, (_, i) => i / 2);
  const pairs = Uint32Array.from({ length: 256 }, (_, i) => i | (255 - i) << 8);
  const out = decode(
    await converted(device, "e4m3_to_2f16(in[i])", pairs),
    "f16",
  );
  const values = decode(codes, "e4m3");
  for (let i = 0; i < 256; i++) {
    assertStrictEquals(out[2 * i], values[2 * i], `code ${i}`);
    assertStrictEquals(
      out[2 * i + 1],
      values[2 * (255 - i)],
      `code ${255 - i}`,
    );
  }
});

for (const type of ["f16", "bf16"] as const satisfies readonly DType[]) {
  cudaTest(`multiply_2${type}() rounds each product once`, async (device) => {
    // All signs and exponents, with fractions of many kinds.
    const codes = Uint16Array.from({ length: 8192 }, (_, i) => i * 40503);
    const out = new Uint16Array(
      (await converted(
        device,
        `multiply_2${type}(in[2 * i], in[2 * i + 1])`,
        new Uint32Array(codes.buffer),
      )).buffer,
    );
    const x = decode(new Uint8Array(codes.buffer), type);
    const at = (pair: number, h: number) =>
      x[4 * pair + h]! * x[4 * pair + 2 + h]!;
    const products = Array.from(
      { length: 4096 },
      (_, i) => at(i >> 1, i & 1),
    );
    const right = new Uint16Array(encode(products, type).buffer);
    products.forEach((product, i) => {
      if (!Number.isNaN(product)) {
        assertStrictEquals(out[i], right[i], `${product}`);
      }
    });
  });

  cudaTest(`f32_to_2${type}() rounds to nearest even`, async (device) => {
    const values = Float32Array.from(
      { length: 4096 },
      (_, i) => (1 + i / 4096) * 2 ** (i % 60 - 30) * (i % 3 ? 1 : -1),
    );
    const out = await converted(
      device,
      `f32_to_2${type}(__uint_as_float(in[2 * i]), __uint_as_float(in[2 * i + 1]))`,
      new Uint32Array(values.buffer),
    );
    assertEquals(out.slice(0, 8192), encode(values, type));
  });
}
