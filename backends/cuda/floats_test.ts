import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { decode, type DType, encode } from "../../bench/model/dtype.ts";
import { compileCuda, run } from "../testdata/cuda_lanes.ts";
import { cudaTest } from "../testdata/cuda_mocks.ts";

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
    strictEqual(out[2 * i], values[2 * i], `code ${i}`);
    strictEqual(out[2 * i + 1], values[2 * (255 - i)], `code ${255 - i}`);
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
      if (!Number.isNaN(product)) strictEqual(out[i], right[i], `${product}`);
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
    deepStrictEqual(out.slice(0, 8192), encode(values, type));
  });
}
