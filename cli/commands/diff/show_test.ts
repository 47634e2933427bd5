import { assertEquals } from "@std/assert";
import { summarizeDiff } from "../../../report/diff/diff.ts";
import { placed } from "../../../report/testdata/csv_rows.ts";
import type { Verdict } from "../../../report/diff/verdict.ts";
import { nextStep } from "../diff.ts";

const PATHS = { base: "results/cpu", next: "my new.csv" };
const SUITE = { suite: "matmul-fp32" };
const QUIET = { ...SUITE, runs: "5", between_run_us: "0.1", mean_us: "10" };
type Fields = Parameters<typeof placed>[0];

/** Returns the line for a pair with `fields` on one side, without the name of the program. */
function line(
  fields: Fields,
  { verdict = "slower", ...options }:
    & { verdict?: Verdict }
    & Partial<
      Parameters<typeof nextStep>[1]
    > = {},
) {
  const pair = { base: placed({ ...QUIET, ...fields }), next: placed(QUIET) };
  const swapped = { base: pair.next, next: pair.base };
  const found = summarizeDiff([{ pair, verdict, why: "" }]);
  const other = summarizeDiff([{ pair: swapped, verdict, why: "" }]);
  const said = nextStep(found, { ...PATHS, ...options });
  assertEquals(nextStep(other, { ...PATHS, ...options }), said);
  return said?.replace(/: (deno task|mnkbench|npx \S+ \S+ task) /, ": ");
}

const LINE =
  "Next, as 1 slower row is of a single run or noisy, measure both builds again in turns: compare results/cpu 'my new.csv'";

Deno.test("nextStep() names the command for rows of one run, and for noisy ones", () => {
  assertEquals(line({ runs: "1", between_run_us: "" }), LINE);
  assertEquals(line({ q3_us: "14" }), LINE);
  assertEquals(line({ between_run_us: "2" }), LINE);
});

Deno.test("nextStep() repeats the limits, and asks for the file of a suite of one's own", () => {
  assertEquals(
    line({ runs: "1" }, { threshold: 5, minUs: 1, config: "a b.json" }),
    `${LINE} --threshold 5 --min-us 1 --config 'a b.json'`,
  );
  const own = placed({ ...QUIET, suite: "mine", runs: "1" });
  const found = summarizeDiff([
    { pair: { base: own, next: own }, verdict: "slower", why: "" },
  ]);
  assertEquals(
    nextStep(found, PATHS)!.endsWith(
      "'my new.csv' --suite FILE, where FILE has the suite mine",
    ),
    true,
  );
});

Deno.test("nextStep() says nothing of several quiet runs, of other verdicts and of peers", () => {
  assertEquals(line({}), undefined);
  assertEquals(line({ runs: "1" }, { verdict: "faster" }), undefined);
  const peer = placed({
    ...QUIET,
    ...{ runs: "1", kernel: "torch-compiled", library: "torch 2.11.0" },
  });
  const found = summarizeDiff([
    { pair: { base: peer, next: peer }, verdict: "slower", why: "" },
  ]);
  assertEquals(nextStep(found, PATHS), undefined);
});

Deno.test("nextStep() names the command for rows that are unclear", () => {
  const said = line({}, { verdict: "unclear" });
  assertEquals(
    said,
    "Next, as 1 row is unclear, measure both builds again in turns: compare results/cpu 'my new.csv'",
  );
});
