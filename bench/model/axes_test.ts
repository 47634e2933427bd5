import { deepStrictEqual, throws } from "node:assert/strict";
import { choices } from "./axes.ts";
import { UserError } from "./errors.ts";

const SUITE = {
  name: "mine",
  axes: {
    weights: [{ n: 2560, k: 2560 }, { n: 2048, k: 8192 }, { n: 64, k: 8192 }],
    m: [1, 2],
  },
};

const shapes = (overrides: Readonly<Record<string, readonly number[]>>) =>
  [...choices(SUITE, overrides)].map(({ m, n, k }) => `${m}x${n}x${k}`);

Deno.test("choices() sets several fields at once, the last axis varying fastest", () => {
  deepStrictEqual(shapes({}), [
    ...["1x2560x2560", "2x2560x2560", "1x2048x8192", "2x2048x8192"],
    ...["1x64x8192", "2x64x8192"],
  ]);
});

Deno.test("choices() replaces one of several fields, and has what is alike once", () => {
  deepStrictEqual(shapes({ n: [16, 32], m: [7] }), [
    ...["7x16x2560", "7x32x2560", "7x16x8192", "7x32x8192"],
  ]);
  deepStrictEqual(shapes({ n: [16], k: [32, 64], m: [7] }), [
    ...["7x16x32", "7x16x64"],
  ]);
});

Deno.test("choices() ties a field to one of several", () => {
  const tied = { name: "mine", axes: { w: [{ n: 8, x: 1 }] }, tie: { k: "n" } };
  deepStrictEqual([...choices(tied, {})], [{ n: 8, x: 1, k: 8 }]);
  deepStrictEqual([...choices(tied, { n: [4] })], [{ n: 4, x: 1, k: 4 }]);
  deepStrictEqual([...choices(tied, { k: [5, 6] })], [
    { n: 8, x: 1, k: 5 },
    { n: 8, x: 1, k: 6 },
  ]);
});

Deno.test("choices() names the fields that there are", () => {
  throws(
    () => [...choices(SUITE, { q: [1] })],
    new UserError("Suite mine has no axis q: its axes are n, k, m"),
  );
});
