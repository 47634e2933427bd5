import { assert, assertStrictEquals } from "@std/assert";
import { wanderOf } from "./samples.ts";

/** Twelve summed hashes of `i`: as good as normal, with a deviation of 1. */
function normal(i: number): number {
  let sum = 0;
  for (let part = 0; part < 12; part++) {
    let h = Math.imul(i * 12 + part + 1, 0x9e3779b1) >>> 0;
    h = Math.imul(h ^ (h >>> 15), 0x85ebca6b) >>> 0;
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35) >>> 0;
    sum += ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
  }
  return sum - 6;
}

const samples = (of: (i: number) => number, length = 700) =>
  Array.from({ length }, (_, i) => of(i));

Deno.test("wanderOf() sees neither drift nor modes in noise", () => {
  for (let start = 0; start < 20; start++) {
    const found = wanderOf(samples((i) => 1e4 + 500 * normal(i + 700 * start)));
    assertStrictEquals(found.drifts, false, `${found.drift}`);
    assertStrictEquals(found.modes, undefined);
  }
});

Deno.test("wanderOf() sees a drift of 3 % in noise of 2 %", () => {
  const found = wanderOf(samples((i) => 1e4 + 200 * normal(i) + 3e2 * i / 500));
  assertStrictEquals(found.drifts, true);
  assert(Math.abs(found.drift! - 0.03) < 0.01, `${found.drift}`);
});

Deno.test("wanderOf() sees two modes, where they are and how many in the lower", () => {
  const found = wanderOf(
    samples((i) => (i % 4 === 0 ? 1.2e4 : 1e4) + 200 * normal(i)),
  );
  const { low, high, share } = found.modes!;
  assert(Math.abs(low - 1e4) < 50 && Math.abs(high - 1.2e4) < 50);
  assertStrictEquals(share, 0.75);
});

Deno.test("wanderOf() takes a few stragglers for no mode", () => {
  const found = wanderOf(
    samples((i) => (i % 50 === 0 ? 3e4 : 1e4) + 200 * normal(i)),
  );
  assertStrictEquals(found.modes, undefined);
});

Deno.test("wanderOf() takes neighbouring ticks of a clock for no modes", () => {
  const found = wanderOf(samples((i) => normal(i) > 0 ? 10016 : 10048));
  assertStrictEquals(found.modes, undefined);
});

Deno.test("wanderOf() does not judge a few samples", () => {
  assertStrictEquals(wanderOf([1, 2, 3]).drift, undefined);
  assertStrictEquals(wanderOf([]).drifts, false);
});

Deno.test("wanderOf() takes equal samples for steady", () => {
  const found = wanderOf(samples(() => 5000));
  assertStrictEquals(found.drifts, false);
  assertStrictEquals(found.modes, undefined);
});
