import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { within } from "../testdata/temporary.ts";
import { keyFor } from "../testdata/rows.ts";
import { keyText } from "./row.ts";
import {
  formatSamples,
  parseSamples,
  readSamples,
  type Samples,
  writeSamples,
} from "./samples.ts";

const lineOf = (samples_ns: readonly number[], kernel = "k"): Samples => ({
  key: { ...keyFor(kernel), timer: "graph", cache: "cold" },
  run: "r",
  repeat: 0,
  samples_ns,
});

/** What stands in a line for `samples_ns`. */
function formOf(samples_ns: readonly number[]): unknown {
  const { key: _, run: __, repeat: ___, ...form } = JSON.parse(
    formatSamples(lineOf(samples_ns)),
  );
  return form;
}

/** The most that a sample may have: doubles lack some whole numbers below it. */
const YEAR_NS = 365 * 24 * 3600e9;
const ticks = fc.tuple(
  fc.integer({ min: 1, max: 1e12 }),
  fc.constantFrom(1, 2, 32, 704, 1000, 2 ** 20),
  fc.array(fc.nat(1e6), { maxLength: 40 }),
).map(([least, step, counts]) => counts.map((count) => least + step * count));
const series = fc.oneof(
  ticks,
  fc.array(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  fc.array(fc.integer({ min: 1, max: 2e15 }).map((half) => half / 2)),
  fc.array(fc.double({ min: Number.MIN_VALUE, max: YEAR_NS, noNaN: true })),
  fc.array(fc.constantFrom(1, 2 ** 53 - 1, 2 ** 53, 2 ** 54 + 4, YEAR_NS)),
);

Deno.test("readSamples() gives the samples that were written, bit for bit", () =>
  within((folder) =>
    fc.assert(
      fc.asyncProperty(fc.array(series, { maxLength: 4 }), async (all) => {
        const path = `${folder}/s.samples.jsonl.gz`;
        const old = all.map((samples_ns, i) => lineOf(samples_ns, `k${i}`));
        await writeSamples(path, old.map(formatSamples));
        const found = await readSamples(path, []);
        assertEquals([...found.keys()], old.map(({ key }) => keyText(key)));
        assertEquals(
          [...found.values()].flat().map((line) =>
            JSON.stringify(parseSamples(line))
          ),
          old.map((one) => JSON.stringify(one)),
        );
      }),
    )
  ));

Deno.test("formatSamples() counts the steps of whole samples above the least", () => {
  for (
    const [samples, least_ns, step_ns, steps] of [
      [[12_576, 13_280, 12_544, 12_576], 12_544, 32, [1, 23, 0, 1]],
      [[5000, 5003, 5001], 5000, 1, [0, 3, 1]],
      [[4000, 2000, 6000], 2000, 2000, [1, 0, 2]],
      [[96, 96, 96], 96, 1, [0, 0, 0]],
      [[7], 7, 1, [0]],
      [[1, 2 ** 53 - 1], 1, 2 ** 53 - 2, [0, 1]],
    ] as const
  ) {
    assertEquals(formOf(samples), { least_ns, step_ns, steps });
  }
  fc.assert(fc.property(ticks, (samples) => {
    fc.pre(new Set(samples).size > 1);
    const { steps } = formOf(samples) as { readonly steps: number[] };
    // No greater step would do.
    for (const factor of [2, 3, 5, 7, 11]) {
      assertEquals(steps.every((count) => count % factor === 0), false);
    }
  }));
});

Deno.test("formatSamples() leaves samples as they are that no steps give back", () => {
  for (
    const samples_ns of [[], [0.1, 32], [5000.5], [2 ** 53 + 2, 1]]
  ) {
    assertEquals(formOf(samples_ns), { samples_ns });
  }
});

Deno.test("readSamples() takes lines of both forms from one file", () =>
  within(async (folder) => {
    const path = `${folder}/s.samples.jsonl.gz`;
    const [old, fresh] = [lineOf([64, 32], "old"), lineOf([64, 32], "new")];
    await writeSamples(path, [JSON.stringify(old), formatSamples(fresh)]);
    const found = await readSamples(path, []);
    assertEquals(
      [...found.values()].flat().map(parseSamples),
      [old, fresh],
    );
  }));
