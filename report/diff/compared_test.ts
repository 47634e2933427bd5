import { assert, assertEquals } from "@std/assert";
import { placed } from "../testdata/csv_rows.ts";
import { comparedLines, type ComparedPair } from "./compared.ts";

const NOTE = "C: 9 of 9 elements mismatch (100 %); greatest at (0, 0)";
const [base, next] = [placed(), placed({ status: "wrong", note: NOTE })];
const PAIR: ComparedPair = {
  base,
  next,
  judged: {
    pair: { base, next },
    verdict: "broken",
    why: `ok -> wrong: ${NOTE}`,
  },
};

const linesOf = (pair: ComparedPair, markdown: boolean) =>
  comparedLines([pair], {
    names: ["a", "b"],
    limit: { relative: 0.01, minUs: 0.05 },
    color: false,
    markdown,
  });

Deno.test("comparedLines() has the first part of a failed case's note, in Markdown all of it", () => {
  assertEquals(
    linesOf(PAIR, false)[1]!.split("broken: ")[1],
    "ok -> wrong: C: 9 of 9 elements mismatch (100 %)",
  );
  assert(linesOf(PAIR, true)[2]!.includes(NOTE));
});

Deno.test("comparedLines() has all reasons of a verdict on timed cases", () => {
  const why = "rel_l2_err 0.001 -> 0.003; each run is slower";
  const pair = { base, next: placed() };
  const judged = { pair, verdict: "less-accurate", why } as const;
  assert(linesOf({ ...pair, judged }, false)[1]!.endsWith(`: ${why}`));
});
