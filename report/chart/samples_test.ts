import { assert, assertStrictEquals } from "@std/assert";
import { instabilityOf } from "./samples.ts";

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

Deno.test("instabilityOf() sees neither drift nor modes in noise", () => {
  for (let start = 0; start < 20; start++) {
    const found = instabilityOf(
      samples((i) => 1e4 + 500 * normal(i + 700 * start)),
    );
    assertStrictEquals(found.drifts, false, `${found.drift}`);
    assertStrictEquals(found.modes, undefined);
  }
});

Deno.test("instabilityOf() sees a drift of 3 % in noise of 2 %", () => {
  const found = instabilityOf(
    samples((i) => 1e4 + 200 * normal(i) + 3e2 * i / 500),
  );
  assertStrictEquals(found.drifts, true);
  assert(Math.abs(found.drift! - 0.03) < 0.01, `${found.drift}`);
});

Deno.test("instabilityOf() sees two modes, where they are and how many in the lower", () => {
  const found = instabilityOf(
    samples((i) => (i % 4 === 0 ? 1.2e4 : 1e4) + 200 * normal(i)),
  );
  const { low, high, share } = found.modes!;
  assert(Math.abs(low - 1e4) < 50 && Math.abs(high - 1.2e4) < 50);
  assertStrictEquals(share, 0.75);
});

Deno.test("instabilityOf() takes a few stragglers for no mode", () => {
  const found = instabilityOf(
    samples((i) => (i % 50 === 0 ? 3e4 : 1e4) + 200 * normal(i)),
  );
  assertStrictEquals(found.modes, undefined);
});

Deno.test("instabilityOf() takes neighbouring ticks of a clock for no modes", () => {
  const found = instabilityOf(samples((i) => normal(i) > 0 ? 10016 : 10048));
  assertStrictEquals(found.modes, undefined);
});

Deno.test("instabilityOf() does not judge a few samples", () => {
  assertStrictEquals(instabilityOf([1, 2, 3]).drift, undefined);
  assertStrictEquals(instabilityOf([]).drifts, false);
});

Deno.test("instabilityOf() takes equal samples for steady", () => {
  const found = instabilityOf(samples(() => 5000));
  assertStrictEquals(found.drifts, false);
  assertStrictEquals(found.modes, undefined);
});
