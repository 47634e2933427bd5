/** Effective bits of rows, and kernels that have fewer than their operation asks for. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { decode, encode } from "../../bench/model/dtype.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import { defineSuite } from "../../bench/model/suite.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { product, storedMatrix } from "../../kernels/common/product.ts";
import { memoryOf, multiply, rowsOf } from "../testdata/spine.ts";

const BUILD = { source: new URL("./fake.ts", import.meta.url), defines: {} };
const [M, K] = [32, 512];
/** Partial sums of so many terms. */
const SLICE = 32;

/** A product whose partial sums are rounded to fp16. */
function coarse(args: readonly unknown[]): void {
  const a = storedMatrix(memoryOf(args[0]), "bf16", K);
  const b = storedMatrix(memoryOf(args[1]), "bf16", M);
  const shape = { m: M, n: M, k: K, layout: "nn" } as const;
  const sums = new Float64Array(M * M);
  for (let from = 0; from < K; from += SLICE) {
    const part = product(shape, a, b, [from, from + SLICE]);
    decode(encode(part, "f16"), "f16").forEach((x, i) => sums[i]! += x);
  }
  memoryOf(args[2]).set(encode(sums, "bf16"));
}

/** A product that is precise where C looks as in a check: filled with one byte. */
function sly(args: readonly unknown[]): void {
  const c = memoryOf(args[2]);
  (c.every((byte) => byte === c[0]) ? multiply : coarse)(args);
}

/** The row of a kernel that runs `entry`. */
async function rowOf(entry: "right" | "coarse" | "sly", tolerant = false) {
  const kernel = defineKernel<MatmulPoint>(matmul, {
    name: entry,
    backend: "fake",
    idea: "a product",
    builds: () => [BUILD],
    ...(tolerant ? { tolerance: () => ({ rtol: 0.02, atol: 0.05 }) } : {}),
    prepare: ({ point, operands, program }) => ({
      steps: [
        program(BUILD, entry).step(
          matmul.args(point, operands),
          { grid: [1, 1, 1], block: [1, 1, 1] },
        ),
      ],
    }),
  });
  const suite = defineSuite<MatmulPoint>({
    name: "spine",
    title: "Spine",
    op: matmul,
    axes: { m: [M], k: [K] },
    tie: { n: "m" },
    fixed: { type: "bf16", epilogue: "none" },
    kernels: [kernel],
    baselines: [],
  });
  const { rows: [row] } = await rowsOf(suite, {
    kernels: {
      right: { ns: 5000, run: multiply },
      coarse: { ns: 5000, run: coarse },
      sly: { ns: 5000, run: sly },
    },
    settings: { rep: 8 },
  });
  return row!;
}

Deno.test("run() gives the effective bits of what a kernel summed, under the rounding of its output", async () => {
  const row = await rowOf("right");
  assert(row.status === "ok", row.note);
  assert(row.accuracy.bits! > 16, `${row.accuracy.bits}`);
});

Deno.test("run() finds partial sums in fp16 that the tolerance lets pass", async () => {
  const row = await rowOf("coarse");
  assert(row.status === "wrong", row.note);
  assertMatch(
    row.note,
    /^C: looks like fp16 partial sums: 1[12]\.\d effective bits, and 15\.0 are asked$/,
  );
  assertEquals(row.accuracy?.mismatches, 0);
  assert(row.accuracy!.bits! < 13);
});

Deno.test("run() finds partial sums in fp16 in samples alone", async () => {
  const row = await rowOf("sly");
  assert(row.status === "wrong", row.note);
  assertMatch(
    row.note,
    /^while timed: C: looks like fp16 partial sums: 1[1-3]\.\d effective bits, and 14\.5 are asked$/,
  );
});

Deno.test("run() asks for no bits of a kernel with a tolerance of its own", async () => {
  const row = await rowOf("coarse", true);
  assert(row.status === "ok", row.note);
  assert(row.accuracy.bits! < 13);
});
