import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { roundStep, sizeScale, valueScale } from "./scale.ts";

const ROOM = { from: 100, to: 0, log: false };

Deno.test("valueScale() has round ticks around all values, from zero where that is near", () => {
  deepStrictEqual(valueScale([5.2, 17], ROOM).ticks, [0, 5, 10, 15, 20]);
  const near = valueScale([9.71, 9.93], ROOM);
  ok(near.ticks[0]! > 9 && near.ticks[0]! <= 9.71, `${near.ticks}`);
  ok(near.ticks.at(-1)! >= 9.93);
  ok(Math.abs(near.at(near.ticks[0]!) - 100) < 1e-9);
  ok(Math.abs(near.at(near.ticks.at(-1)!)) < 1e-9);
});

Deno.test("valueScale() of equal values is no division by zero", () => {
  for (const values of [[5, 5], [0, 0]]) {
    const { at, ticks } = valueScale(values, ROOM);
    ok(Number.isFinite(at(values[0]!)), `${values}`);
    ok(ticks.length >= 2);
  }
});

Deno.test("valueScale() with logarithms keeps ratios equally far apart", () => {
  const { at } = valueScale([1, 100], { ...ROOM, log: true });
  ok(Math.abs((at(1) - at(10)) - (at(10) - at(100))) < 1e-9);
});

Deno.test("roundStep() is 1, 2 or 5 times a power of ten", () => {
  deepStrictEqual([0.03, 1, 1.1, 3, 7].map(roundStep), [0.05, 1, 2, 5, 10]);
});

Deno.test("sizeScale() names only sizes that have room", () => {
  const sizes = Array.from({ length: 40 }, (_, i) => 1024 * (i + 1));
  const { ticks, at } = sizeScale(sizes, { from: 0, to: 400 });
  ok(ticks.length <= 10 && ticks.length >= 4, `${ticks}`);
  strictEqual(at(1024), 0);
  strictEqual(at(40960), 400);
});
