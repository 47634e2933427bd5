import { deepEqual, equal, ok } from "node:assert/strict";
import { e2m1 } from "./e2m1.ts";
import { e4m3 } from "./e4m3.ts";
import {
  dequantiseMicroscale,
  type MicroscaleMode,
  MICROSCALES,
  quantiseMicroscale,
} from "./microscale.ts";

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
    const { element, max, scales } = MICROSCALES[mode];
    for (const scale of scales) {
      // Between these, elements and their scale are normal in fp32.
      if (!(scale >= 2 ** -100 && scale <= 2 ** 100)) continue;
      for (let at = 0; at < element.values.length; at += 8) {
        const some = [...element.values.subarray(at, at + 8)]
          .filter(Number.isFinite).map((x) => x * scale);
        // With the largest magnitude among them the scale is found again.
        const w = [max * scale, ...some];
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
