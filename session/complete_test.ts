import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { cpu } from "../backends/cpu/cpu.ts";
import { EXIT, UserError } from "../bench/model/errors.ts";
import { keyOf, keyText } from "../bench/row/row.ts";
import { demandComplete, missingCases } from "./complete.ts";
import { select } from "./selection.ts";
import { testdata } from "../cli/testdata/program.ts";

const { cases } = await select({
  suites: [testdata("small_suite.ts")],
  kernels: [],
  overrides: {},
  where: {},
  quick: true,
  backend: cpu.name,
  device: 0,
});
const keys = cases.map((c) => keyText(keyOf(c)));
/** A journal that has the first `counts[repeat]` cases of each repeat. */
const having = (...counts: number[]) => ({
  done: (repeat: number) => new Set(keys.slice(0, counts[repeat])),
});

Deno.test("missingCases() gives the cases without a row in a repeat", () => {
  strictEqual(cases.length, 3);
  deepStrictEqual(missingCases(having(3, 1), cases, 0), []);
  deepStrictEqual(missingCases(having(3, 1), cases, 1), cases.slice(1));
});

Deno.test("missingCases() is not misled by rows of cases that are not selected", () => {
  const others = { done: () => new Set(["x", "y", "z"]) };
  deepStrictEqual(missingCases(others, cases, 0), cases);
});

Deno.test("demandComplete() refuses a run that lacks rows, and says how to go on", () => {
  demandComplete(having(3, 3), cases, 2);
  throws(
    () => demandComplete(having(2, 1), cases, 2),
    (error) =>
      error instanceof UserError && error.code === EXIT.failed &&
      error.message ===
        "Cannot write the results: 3 of 6 rows are missing, as the worker ended without them; what was measured is kept: the same command goes on",
  );
});
