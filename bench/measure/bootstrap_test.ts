import { assert, assertEquals } from "@std/assert";
import { quantile, spread } from "./stats.ts";
import { blockLength, generator, medianError } from "./bootstrap.ts";
import { drifting } from "../testdata/samples.ts";

/** The spread of the medians of series, and the mean of what each says of its own. */
function compare(correlation: number, n: number) {
  const random = generator(7);
  const medians: number[] = [];
  let told = 0;
  const series = 60;
  for (let i = 0; i < series; i++) {
    const samples = drifting(random, { n, correlation, deviation: 1 });
    medians.push(quantile(samples.toSorted((a, b) => a - b), 0.5));
    told += medianError(samples).error / series;
  }
  return told / spread(medians)!;
}

Deno.test("medianError() is the spread of medians of independent samples", () => {
  const ratio = compare(0, 400);
  assert(ratio > 0.8 && ratio < 1.25, `${ratio}`);
});

Deno.test("medianError() does not take samples that follow each other for so many proofs", () => {
  // Were they taken as independent, the ratio were 0.23 here.
  const ratio = compare(0.9, 700);
  assert(ratio > 0.7 && ratio < 1.25, `${ratio}`);
});

Deno.test("medianError() gives the same for the same samples", () => {
  const samples = drifting(generator(1), {
    n: 99,
    correlation: 0.5,
    deviation: 1,
  });
  assertEquals(medianError(samples), medianError([...samples]));
  assert(medianError(samples).error > 0);
});

Deno.test("blockLength() grows with how long samples resemble each other", () => {
  const lengths = [0, 0.5, 0.9, 0.97].map((correlation) =>
    blockLength(drifting(generator(3), { n: 2000, correlation, deviation: 1 }))
  );
  for (let i = 1; i < lengths.length; i++) {
    assert(lengths[i]! >= lengths[i - 1]!, lengths.join(", "));
  }
  assert(lengths[0]! >= 12 && lengths[0]! < 40, lengths.join(", "));
  assert(lengths[3]! > 2 * lengths[0]!, lengths.join(", "));
});

Deno.test("blockLength() is the cube root for samples that are all the same", () => {
  assertEquals(blockLength(Array.from({ length: 27 }, () => 4)), 3);
});
