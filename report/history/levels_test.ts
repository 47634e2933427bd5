import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { mix } from "../../bench/model/inputs.ts";
import { levelsOf } from "./levels.ts";

/** Normal numbers, the same for the same seed (Box and Muller). */
function* normal(seed: number): Generator<number, never> {
  const uniform = (i: number) => (mix(mix(seed) + i) + 0.5) / 2 ** 32;
  for (let i = 0;; i += 2) {
    yield Math.sqrt(-2 * Math.log(uniform(i))) *
      Math.cos(2 * Math.PI * uniform(i + 1));
  }
}

/** Times around 10 µs with 2 % of noise, `factor` times as long from place `at` on. */
function series(
  seed: number,
  { length, at = length, factor = 1, disturbed = 0 }: {
    readonly length: number;
    readonly at?: number;
    readonly factor?: number;
    /** One in so many is 30 % slower. */
    readonly disturbed?: number;
  },
): number[] {
  const noise = normal(seed);
  return Array.from({ length }, (_, i) => {
    const isDisturbed = disturbed > 0 && mix(seed + 7919 * i) % disturbed === 0;
    return 10 * (i < at ? 1 : factor) * Math.exp(0.02 * noise.next().value) *
      (isDisturbed ? 1.3 : 1);
  });
}

for (const disturbed of [0, 40]) {
  const what = disturbed ? ", also where runs are disturbed" : "";
  Deno.test(`levelsOf() finds 95 % of 500 steps of 5 % within two runs${what}`, () => {
    let found = 0;
    for (let seed = 0; seed < 500; seed++) {
      const length = 40 + seed % 80;
      const at = 10 + mix(seed) % (length - 20);
      const factor = seed % 2 ? 1.05 : 1 / 1.05;
      const levels = levelsOf(series(seed, { length, at, factor, disturbed }));
      if (levels.slice(1).some(({ from }) => Math.abs(from - at) <= 2)) found++;
    }
    assert(found >= 475, `${found} of 500`);
  });

  Deno.test(`levelsOf() finds less than one change in 1,000 runs of one level${what}`, () => {
    let changes = 0;
    for (let seed = 0; seed < 300; seed++) {
      const length = 100;
      changes += levelsOf(series(seed, { length, disturbed })).length - 1;
    }
    assert(changes <= 30, `${changes} in 30,000 runs`);
  });
}

Deno.test("levelsOf() gives the median of each level, and no change of less than 1 %", () => {
  const [before, after] = [Array(20).fill(8), Array(20).fill(9)];
  assertEquals(levelsOf([...before, ...after]), [
    { from: 0, to: 20, center: 8 },
    { from: 20, to: 40, center: 9 },
  ]);
  assertEquals(levelsOf([...before, ...Array(20).fill(8.05)]).length, 1);
  assertEquals(levelsOf([]), []);
  assertEquals(levelsOf([5]), [{ from: 0, to: 1, center: 5 }]);
  const up = [...before, ...after, ...before];
  assertEquals(levelsOf(up).map(({ center }) => center), [8, 9, 8]);
  assertAlmostEquals(levelsOf(series(1, { length: 60 }))[0]!.center, 10, 0.2);
});
