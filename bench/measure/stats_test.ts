import { assert, assertAlmostEquals, assertStrictEquals } from "@std/assert";
import { generator } from "./bootstrap.ts";
import { dephased, median, phasedMedian } from "./stats.ts";

/** Samples around 10, of `count`, changed by `plant`; for each of 40 seeds. */
function* planted(
  count: number,
  plant: (x: number, i: number, next: () => number) => number,
): Generator<number[]> {
  for (let seed = 0; seed < 40; seed++) {
    const next = generator(seed);
    yield Array.from(
      { length: count },
      (_, i) => plant(10 + 0.05 * (next() - next()), i, next),
    );
  }
}

for (const count of [40, 64, 100, 700]) {
  Deno.test(`phasedMedian() of ${count} samples of a loaded host is their median`, () => {
    const interrupted = planted(
      count,
      (x, _, next) => next() < 0.3 ? x * 40 * next() + x : x,
    );
    const burst = planted(
      count,
      (x, i) => i > count / 3 && i < 0.7 * count ? 30 * x : x,
    );
    for (const samples of [...interrupted, ...burst]) {
      const plain = median(samples);
      assertAlmostEquals(phasedMedian(samples) / plain, 1, 0.02);
    }
  });
}

Deno.test("phasedMedian() is the mean of modes that follow the index, interrupted or not", () => {
  for (const rare of [0, 0.05]) {
    const modes = planted(
      320,
      (x, i, next) => (i % 4 < 2 ? x : 1.2 * x) * (next() < rare ? 30 : 1),
    );
    for (const samples of modes) {
      assertAlmostEquals(phasedMedian(samples), 11, 0.05);
    }
  }
});

Deno.test("phasedMedian() of modes that do not follow the index is their median", () => {
  const modes = planted(320, (x, _, next) => next() < 0.3 ? 2 * x : x);
  let unchanged = 0;
  for (const samples of modes) {
    assertAlmostEquals(phasedMedian(samples), median(samples), 0.1);
    if (dephased(samples).every((x, i) => x === samples[i])) unchanged++;
  }
  // The test for residues errs in one of a hundred.
  assert(unchanged >= 38, `${unchanged} of 40`);
});

Deno.test("phasedMedian() does not take interruptions that come with the index for modes", () => {
  const samples = Array.from(
    { length: 64 },
    (_, i) => i % 16 === 3 ? 900 : 10 + (i % 5) / 100,
  );
  assertStrictEquals(phasedMedian(samples), median(samples));
  // A quarter of the residues explain the spread, but no state of a driver takes so long.
  const many = samples.map((x, i) => i % 4 === 3 ? 900 : x);
  assertStrictEquals(phasedMedian(many), median(many));
});
