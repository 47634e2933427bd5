import { assert, assertEquals, assertThrows } from "@std/assert";
import { decode, encode } from "../../bench/model/dtype.ts";
import { UserError } from "../../bench/model/errors.ts";
import { allFormats } from "../../bench/formats/quant_format.ts";
import { dequantise } from "../../bench/formats/quantise.ts";
import type { Values } from "../../bench/model/grid.ts";
import { qmm } from "./op.ts";
import { title as titleOf } from "../testdata/cases.ts";
import { type QmmPoint, weightShape } from "./point.ts";

const title = (point: QmmPoint) => titleOf(qmm, point);
const INPUTS = { seed: 9, fill: "normal" } as const;

Deno.test("qmm.point() has defaults, and refuses what MLX refuses", () => {
  assertEquals(qmm.point({ m: 1, n: 2, k: 64 }), {
    m: 1,
    n: 2,
    k: 64,
    type: "bf16",
    transposed: true,
    mode: "affine",
    bits: 4,
    group: 64,
  });
  const refused: [Values, string][] = [
    [
      { m: 1, n: 2, k: 96 },
      "A row of 96 weights is no multiple of 64, the group of affine: make K of x · Wᵀ, or N of x · W, a multiple of it, or take a smaller group",
    ],
    [
      { m: 1, n: 96, k: 64, layout: "nn" },
      "A row of 96 weights is no multiple of 64, the group of affine: make K of x · Wᵀ, or N of x · W, a multiple of it, or take a smaller group",
    ],
    [{ m: 1, n: 2, k: 64, mode: "mxfp4", bits: 8 }, "bits is 8: mxfp4 has 4"],
    [{ m: 1, n: 2, k: 64, bits: 7 }, "bits is 7: affine has 2, 3, 4, 5, 6, 8"],
    [
      { m: 1, n: 2, k: 64, group: "row" },
      "group is row: give a whole number of at least 1 or channel, as in --axis group=64",
    ],
    [{ m: 1, n: 2, k: 64, type: "f32" }, "type is f32: give one of f16, bf16"],
    [{ m: 1, n: 2, k: 64, layout: "tn" }, "layout is tn: give one of nt, nn"],
    [
      { m: 0, n: 2, k: 64 },
      "m is 0: give a whole number of at least 1, as in --axis m=64",
    ],
  ];
  for (const [values, message] of refused) {
    assertThrows(() => qmm.point(values), UserError, message);
  }
});

Deno.test("qmm.inputs() have the same weights at every M, and others at another seed", () => {
  const of = (m: number, seed: number) =>
    qmm.inputs(qmm.point({ m, n: 8, k: 128 }), { ...INPUTS, seed }).slice(1);
  assertEquals(of(1, 1), of(7, 1));
  assert(of(1, 1)[0]!.some((byte, i) => byte !== of(1, 2)[0]![i]));
});

Deno.test("qmm.inputs() are of variance 1/K once decoded", () => {
  for (const format of allFormats()) {
    const point = qmm.point({ ...format, m: 8, n: 64, k: 1024 });
    const [x, packed, scales, biases] = qmm.inputs(point, INPUTS);
    const count = 64 * 1024;
    const stored = { packed: packed!, scales: scales! };
    const w = dequantise(biases ? { ...stored, biases } : stored, point, {
      type: point.type,
      count,
    });
    const variance = (v: ArrayLike<number>) =>
      Array.from(v).reduce((sum, a) => sum + a * a, 0) / v.length * 1024;
    assert(Math.abs(variance(decode(x!, point.type)) - 1) < 0.05, title(point));
    // Two bits are rough.
    assert(
      Math.abs(variance(w) - 1) < (format.bits === 2 ? 0.5 : 0.1),
      title(point),
    );
  }
});

Deno.test("qmm.reference() is the sum of products of what is stored", () => {
  for (const layout of ["nt", "nn"]) {
    const point = qmm.point({ m: 2, n: 64, k: 64, mode: "mxfp4", layout });
    const [x, packed, scales] = qmm.inputs(point, INPUTS);
    const { rows, cols } = weightShape(point);
    const w = dequantise({ packed: packed!, scales: scales! }, point, {
      type: "bf16",
      count: rows * cols,
    });
    const a = decode(x!, "bf16");
    let sum = 0;
    // Row 1, column 3 of the output.
    for (let p = 0; p < 64; p++) {
      sum += a[64 + p]! * w[layout === "nt" ? 3 * 64 + p : p * 64 + 3]!;
    }
    const [y] = qmm.reference(point, [x!, packed!, scales!]).at(0, [64 + 3]);
    assert(Math.abs(y! - sum) < 1e-14);
  }
});

Deno.test("qmm.tolerance() allows weights that are rounded to bf16, at any K", () => {
  for (const k of [8, 16, 64, 1024]) {
    const point = qmm.point({ m: 16, n: 64, k, layout: "nn" });
    const [x, packed, scales, biases] = qmm.inputs(point, INPUTS);
    const right = qmm.reference(point, [x!, packed!, scales!, biases!]).all(0);
    const w = dequantise(
      { packed: packed!, scales: scales!, biases: biases! },
      point,
      { type: "bf16", count: k * 64 },
    );
    const rounded = decode(encode(Float32Array.from(w), "bf16"), "bf16");
    const a = decode(x!, "bf16");
    const { rtol, atol } = qmm.tolerance(point);
    right.forEach((value, i) => {
      const row = Math.floor(i / 64) * k;
      let sum = 0;
      for (let p = 0; p < k; p++) {
        sum += a[row + p]! * rounded[p * 64 + i % 64]!;
      }
      const [y] = decode(encode(new Float32Array([sum]), "bf16"), "bf16");
      assert(
        Math.abs(y! - value) <= atol + rtol * Math.abs(value),
        title(point),
      );
    });
  }
});

Deno.test("qmm.work() counts packed bytes", () => {
  const point = qmm.point({ m: 2, n: 4096, k: 4096, mode: "nvfp4" });
  assertEquals(qmm.work(point), {
    flops: 2 * 2 * 4096 * 4096,
    bytes: 2 * 2 * 4096 + 4096 * 4096 / 2 + 4096 * 4096 / 16 + 2 * 2 * 4096,
  });
  const affine = qmm.point({ m: 1, n: 64, k: 128, bits: 3, group: 32 });
  // x, 3 bits a weight, a scale and a bias for each 32, y.
  assertEquals(
    qmm.work(affine).bytes,
    256 + 64 * 128 * 3 / 8 + 2 * 2 * 64 * 4 + 128,
  );
});

Deno.test("qmm.key() tells formats and orientations apart", () => {
  const of = (values: Values) => {
    const { layout, params, a_type, b_type } = qmm.key(
      qmm.point({ m: 1, n: 64, k: 64, ...values }),
    );
    return `${a_type} ${b_type} ${layout} ${params}`;
  };
  assertEquals(
    [
      of({ k: 96, group: "channel" }),
      of({}),
      of({ mode: "mxfp8" }),
      of({ layout: "nn", type: "f16" }),
    ],
    [
      "bf16 u32 nt mode=affine bits=4 group=channel",
      "bf16 u32 nt mode=affine bits=4 group=64",
      "bf16 u32 nt mode=mxfp8",
      "f16 u32 nn mode=affine bits=4 group=64",
    ],
  );
});
