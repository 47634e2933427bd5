import { deepEqual, equal, ok } from "node:assert/strict";
import { values } from "../model/inputs.ts";
import { dequantiseAffine, quantiseAffine } from "./affine.ts";

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
