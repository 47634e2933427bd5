/** A few of the mistakes; `deno task test:soak` makes them all. */

import { assert } from "@std/assert";
import { ALL } from "./testdata/all.ts";
import { Copy, sample } from "./mutant.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Seconds each on two cores. */
const COUNT = 8;

/** Changes with the harness, so that each commit has a sample of its own. */
function seedOf(): number {
  const files = new Set(ALL.map(({ file }) => `${ROOT}${file}`));
  return [...files].reduce((sum, path) => sum + Deno.statSync(path).size, 0);
}

Deno.test("tests notice the mistakes of a sample", async () => {
  const seed = seedOf();
  await using copy = await Copy.of(ROOT);
  for (const mutant of sample(ALL, COUNT, seed)) {
    const { killer } = await copy.fate(mutant);
    assert(
      killer !== undefined,
      `no test notices "${mutant.name}" in ${mutant.file} (seed ${seed})`,
    );
  }
});

Deno.test("Copy.fate() tells a mistake that no test notices from one that is noticed", async () => {
  await using copy = await Copy.of(ROOT);
  const mutant = {
    name: "x",
    file: "bench/measure/stats.ts",
    find: "values.length > 0 ? Math.exp",
    replace: "values.length > 0 ? 1 * Math.exp",
    tests: ["bench/measure/time_test.ts"],
    why: "",
  };
  assert((await copy.fate(mutant)).killer === undefined);
  const sum = "sum + value, 0) / values.length";
  const found = { ...mutant, find: sum, replace: `1 + ${sum}` };
  assert((await copy.fate(found)).killer !== undefined);
});
