import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { BYTES, decode, encode } from "../model/dtype.ts";
import { UserError } from "../model/errors.ts";
import { values } from "../model/inputs.ts";
import {
  dequantise,
  dequantiseAffine,
  dequantiseMicroscale,
  type MicroscaleMode,
  MICROSCALES,
  quantise,
  quantiseAffine,
  quantiseMicroscale,
} from "./quantise.ts";
import { allFormats, formatName, quantFormat } from "./quant_format.ts";
import { e2m1, e4m3 } from "./minifloat.ts";

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
    [
      { mode: "affine", group: 16 },
      "group is 16: affine has 32, 64, 128, channel",
    ],
    [
      { mode: "affine", group: 4096 },
      "group is 4096: affine has 32, 64, 128, channel",
    ],
    [{ mode: "mxfp4", group: "channel" }, "group is channel: mxfp4 has 32"],
    [{ mode: "nvfp4", group: 32 }, "group is 32: nvfp4 has 16"],
    [{ mode: "mxfp4", bits: 8 }, "bits is 8: mxfp4 has 4"],
  ];
  for (const [wish, message] of refused) {
    throws(() => quantFormat(wish), new UserError(message));
  }
});

Deno.test("quantFormat() makes a channel a group of all weights of a row", () => {
  const of = (row: number) =>
    quantFormat({ mode: "affine", group: "channel" }, row);
  deepEqual(of(416), { mode: "affine", bits: 4, group: 416 });
  // A group of MLX is the same format.
  deepEqual([416, 128].map((row) => formatName(of(row))), [
    "affine-4/channel",
    "affine-4/128",
  ]);
  throws(
    () => of(40),
    new UserError(
      "A row of 40 weights is no multiple of 32, so its codes fill no whole words: make K of x · Wᵀ, or N of x · W, a multiple of it",
    ),
  );
});

Deno.test("quantise() of a channel gives each row one scale", () => {
  const format = quantFormat({ mode: "affine", bits: 8, group: "channel" }, 96);
  const w = Float32Array.from({ length: 2 * 96 }, (_, i) => (i % 96) / 8);
  const stored = quantise(w.map((x, i) => i < 96 ? x : 4 * x), format, "f16");
  deepEqual([stored.scales.length, stored.biases!.length], [4, 4]);
  const back = dequantise(stored, format, { type: "f16", count: 192 });
  for (let i = 0; i < 96; i++) {
    ok(Math.abs(back[i]! - w[i]!) < 0.05);
    ok(Math.abs(back[96 + i]! - 4 * w[i]!) < 0.2);
  }
});

Deno.test("allFormats() are 18 affine ones and one of each other mode", () => {
  deepEqual(
    allFormats().map(formatName).slice(-5),
    ["affine-8/64", "affine-8/128", "mxfp4", "mxfp8", "nvfp4"],
  );
  equal(allFormats().length, 21);
});

/** A group of 32 that starts with `first`, the rest 0. */
function groupOf(...first: number[]): Float32Array<ArrayBuffer> {
  const w = new Float32Array(32);
  w.set(first);
  return w;
}

const normal = (seed: number, scale = 1) =>
  Float32Array.from(
    values({ seed, fill: "normal" }, 0, 64),
    (x) => x * scale,
  );

Deno.test("quantiseAffine() makes the larger edge exact, with a scale of its sign", () => {
  const codes = new Uint8Array(32);
  // Upper edge: 3 / 15 = 0.2, negative; round(2 / -0.2) = -10.
  const up = quantiseAffine(groupOf(-1, 2, 0.4, 0.5), 4, codes);
  deepEqual(up, { scale: Math.fround(-0.2), bias: 2 });
  deepEqual([...codes.subarray(0, 5)], [15, 0, 8, 8, 10]);
  // Lower edge: 0.2, positive; round(-2 / 0.2) = -10.
  const down = quantiseAffine(groupOf(-2, 1, 0.4, 0.5), 4, codes);
  deepEqual(down, { scale: Math.fround(0.2), bias: -2 });
  deepEqual([...codes.subarray(0, 5)], [0, 15, 12, 12, 10]);
});

Deno.test("quantiseAffine() keeps 0 where an edge of MLX's simpler formula would not", () => {
  for (const bits of [2, 3, 4, 5, 6, 8]) {
    const w = normal(bits);
    w[17] = 0;
    const codes = new Uint8Array(64);
    const { scale, bias } = quantiseAffine(w, bits, codes);
    const zero = dequantiseAffine(codes[17]!, { scale, bias });
    ok(Math.abs(zero) <= Math.abs(bias) * 2 ** -23, `${bits} bits: ${zero}`);
  }
});

Deno.test("quantiseAffine() is within a scale of every weight, as MLX's test asks", () => {
  for (const bits of [2, 3, 4, 5, 6, 8]) {
    for (const size of [1e-3, 1, 1e3]) {
      const w = normal(7 * bits, size);
      const codes = new Uint8Array(64);
      const s = quantiseAffine(w, bits, codes);
      w.forEach((x, i) => {
        ok(codes[i]! < 1 << bits);
        const error = Math.abs(dequantiseAffine(codes[i]!, s) - x);
        ok(error <= Math.abs(s.scale) + 1e-6 * size, `${bits}: ${x}, ${error}`);
      });
    }
  }
});

Deno.test("quantiseAffine() is exact for groups of one value", () => {
  for (const x of [0, 1, -1, 0.1, -3e4]) {
    const codes = new Uint8Array(32);
    const s = quantiseAffine(new Float32Array(32).fill(x), 4, codes);
    equal(dequantiseAffine(codes[0]!, s), Math.fround(x));
  }
});

Deno.test("quantiseAffine() takes the true maximum of a negative group, as MLX's CPU does", () => {
  const w = new Float32Array(32).fill(-1);
  w[0] = -2;
  const codes = new Uint8Array(32);
  // 1 / 15 and round(-2 / (1 / 15)) = -30; MLX's Metal kernel has 2 / 15 and -15.
  const { scale, bias } = quantiseAffine(w, 4, codes);
  deepEqual([scale, bias], [Math.fround(2 / 30), -2]);
  deepEqual([codes[0], codes[1]], [0, 15]);
});

Deno.test("quantiseAffine() gives NaN the last code and infinities a NaN scale", () => {
  const codes = new Uint8Array(32);
  const s = quantiseAffine(groupOf(NaN, 1, -1), 4, codes);
  equal(codes[0], 15);
  ok(Number.isFinite(s.scale) && Number.isFinite(s.bias));
  for (const x of [Infinity, -Infinity]) {
    ok(Number.isNaN(quantiseAffine(groupOf(x, 1), 4, codes).scale));
  }
});

const GROUP = { mxfp4: 32, mxfp8: 32, nvfp4: 16 } as const;
const NAMES: readonly MicroscaleMode[] = ["mxfp4", "mxfp8", "nvfp4"];

function quantised(mode: MicroscaleMode, first: readonly number[]) {
  const w = new Float32Array(GROUP[mode]);
  w.set(first);
  const codes = new Uint8Array(w.length);
  const scale = quantiseMicroscale(w, mode, codes);
  return {
    scale,
    codes: [...codes.subarray(0, first.length)],
    back: first.map((_, i) => dequantiseMicroscale(codes[i]!, mode, scale)),
  };
}

for (const mode of NAMES) {
  Deno.test(`quantiseMicroscale() gives back what ${mode} can hold`, () => {
    const { element, scales } = MICROSCALES[mode];
    for (const scale of scales) {
      // Between these, elements and their scale are normal in fp32.
      if (!(scale >= 2 ** -100 && scale <= 2 ** 100)) continue;
      for (let at = 0; at < element.values.length; at += 8) {
        const some = [...element.values.subarray(at, at + 8)]
          .filter(Number.isFinite).map((x) => x * scale);
        // With the largest magnitude among them the scale is found again.
        const w = [element.max * scale, ...some];
        deepEqual(
          quantised(mode, w).back.map((x) => x + 0),
          w.map((x) => x + 0),
        );
      }
    }
  });

  Deno.test(`quantiseMicroscale() of ${mode} has a result for all that is no number`, () => {
    const nan = quantised(mode, [NaN, 1]);
    equal(nan.codes[0], mode === "mxfp8" ? 0x7f : 7);
    ok(Number.isFinite(nan.back[1]!));
    const infinite = quantised(mode, [-Infinity, 1]);
    if (mode === "nvfp4") deepEqual(infinite.back, [-6 * 448, 0]);
    else {
      equal(infinite.scale, 255);
      ok(infinite.back.every(Number.isNaN));
    }
    const zero = quantised(mode, [0, -0]);
    deepEqual(zero.back.map((x) => x + 0), [0, 0]);
    equal(zero.scale, 0);
  });

  Deno.test(`dequantiseMicroscale() of ${mode} is NaN under a NaN scale`, () => {
    const nans = mode === "nvfp4" ? [0x7f, 0xff] : [0xff];
    for (const scale of nans) {
      ok(Number.isNaN(dequantiseMicroscale(1, mode, scale)));
      ok(Number.isNaN(dequantiseMicroscale(0, mode, scale)));
    }
  });
}

Deno.test("quantiseMicroscale() rounds MX scales to the nearest power of two", () => {
  // 6 · 1.4 has the scale 1 and saturates; 6 · 1.5 has the scale 2.
  deepEqual(quantised("mxfp4", [8.4, 1, -3]).back, [6, 1, -3]);
  deepEqual(quantised("mxfp4", [9, 1, -3]).back, [8, 1, -3]);
  equal(quantised("mxfp8", [448 * 1.4]).scale, 127);
  equal(quantised("mxfp8", [448 * 1.5]).scale, 128);
});

Deno.test("quantiseMicroscale() rounds nvfp4 scales to E4M3, saturated, 0 included", () => {
  deepEqual(quantised("nvfp4", [6 * 1.0625, 1]).codes, [7, 2]);
  equal(e4m3.values[quantised("nvfp4", [6 * 1.07]).scale], 1.125);
  equal(quantised("nvfp4", [1e6]).scale, 0x7e);
  // 6 · 2^-10 is a tie that goes to 0, and with it all elements.
  deepEqual(quantised("nvfp4", [6 * 2 ** -10, 1e-3]), {
    scale: 0,
    codes: [0, 0],
    back: [0, 0],
  });
  equal(quantised("nvfp4", [6.1 * 2 ** -10]).scale, 1);
});

Deno.test("dequantiseMicroscale() overflows to infinity as fp32 does", () => {
  equal(e2m1.values[7], 6);
  equal(dequantiseMicroscale(7, "mxfp4", 254), Infinity);
  equal(dequantiseMicroscale(2, "mxfp4", 254), 2 ** 127);
  // And below: all of these are subnormal, none is lost.
  equal(dequantiseMicroscale(1, "mxfp8", 0), 2 ** -136);
});
