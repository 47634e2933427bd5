import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { BYTES, decode, encode } from "../model/dtype.ts";
import { UserError } from "../model/errors.ts";
import { values } from "../model/inputs.ts";
import { dequantise, quantise } from "./quantise.ts";
import { allFormats, formatName, quantFormat } from "./quant_format.ts";

const COUNT = 384;
const w = (type: "f16" | "bf16") =>
  new Float32Array(
    decode(
      encode(values({ seed: 5, fill: "normal" }, 0, COUNT), type),
      type,
    ),
  );

for (const format of allFormats()) {
  const { mode, bits, group } = format;
  Deno.test(`quantise() stores what dequantise() reads: ${formatName(format)}`, () => {
    for (const type of ["f16", "bf16"] as const) {
      const own = w(type);
      const stored = quantise(own, format, type);
      equal(stored.packed.length, COUNT * bits / 8);
      equal(
        stored.scales.length,
        COUNT / group * (mode === "affine" ? BYTES[type] : 1),
      );
      equal(
        stored.biases?.length,
        mode === "affine" ? COUNT / group * 2 : undefined,
      );
      const back = dequantise(stored, format, { type, count: COUNT });
      const scaleType = mode === "affine"
        ? type
        : mode === "nvfp4"
        ? "e4m3"
        : "e8m0";
      const scales = decode(stored.scales, scaleType).map(Math.abs);
      // Of a stored scale and a stored bias.
      const rounding = type === "f16" ? 2 ** -11 : 2 ** -8;
      back.forEach((x, i) => {
        const scale = scales[Math.floor(i / group)]!;
        // A step, as MLX's test has it, and what scale and bias are off by; half the step
        // near 0, or what saturation cuts off: √2 times the maximum is the most.
        const allowed = mode === "affine"
          ? scale * (1 + rounding * 2 ** bits) + 4 * rounding
          : Math.max(scale * 0.25, Math.abs(own[i]!) * (1 - Math.SQRT1_2));
        const error = Math.abs(x - own[i]!);
        ok(error <= allowed, `${own[i]} is ${x}, under the scale ${scale}`);
      });
    }
  });
}

Deno.test("quantise() refuses a row that is no whole groups", () => {
  throws(
    () => quantise(new Float32Array(48), quantFormat({ mode: "mxfp4" }), "f16"),
    new UserError(
      "A row of 48 weights is no multiple of 32, the group of mxfp4: make K of x · Wᵀ, or N of x · W, a multiple of it, or take a smaller group",
    ),
  );
});

Deno.test("quantFormat() has MLX's defaults", () => {
  deepEqual(
    ["affine", "mxfp4", "mxfp8", "nvfp4"].map((mode) => quantFormat({ mode })),
    [
      { mode: "affine", bits: 4, group: 64 },
      { mode: "mxfp4", bits: 4, group: 32 },
      { mode: "mxfp8", bits: 8, group: 32 },
      { mode: "nvfp4", bits: 4, group: 16 },
    ],
  );
});

Deno.test("quantFormat() takes numbers as text, as files have them", () => {
  deepEqual(quantFormat({ mode: "affine", bits: "3", group: "128" }), {
    mode: "affine",
    bits: 3,
    group: 128,
  });
});

Deno.test("quantFormat() refuses what MLX refuses, naming what there is", () => {
  const refused: [Parameters<typeof quantFormat>[0], string][] = [
    [{ mode: "int4" }, "mode is int4: give one of affine, mxfp4, mxfp8, nvfp4"],
    [{ mode: "affine", bits: 7 }, "bits is 7: affine has 2, 3, 4, 5, 6, 8"],
    [{ mode: "affine", group: 16 }, "group is 16: affine has 32, 64, 128"],
    [{ mode: "nvfp4", group: 32 }, "group is 32: nvfp4 has 16"],
    [{ mode: "mxfp4", bits: 8 }, "bits is 8: mxfp4 has 4"],
  ];
  for (const [wish, message] of refused) {
    throws(() => quantFormat(wish), new UserError(message));
  }
});

Deno.test("allFormats() are 18 affine ones and one of each other mode", () => {
  deepEqual(
    allFormats().map(formatName).slice(-5),
    ["affine-8/64", "affine-8/128", "mxfp4", "mxfp8", "nvfp4"],
  );
  equal(allFormats().length, 21);
});
