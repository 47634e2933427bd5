import { assert, assertEquals } from "@std/assert";
import { placed } from "../testdata/csv_rows.ts";
import { comparedLines, type ComparedPair } from "./compared.ts";

const NOTE = "C: 9 of 9 elements mismatch (100 %); greatest at (0, 0)";
const [base, next] = [placed(), placed({ status: "wrong", note: NOTE })];
const PAIR: ComparedPair = {
  ...{ base, next },
  judged: {
    pair: { base, next },
    verdict: "broken",
    why: `ok -> wrong: ${NOTE}`,
  },
};

Deno.test("comparedLines() has the first part of a note, in Markdown all of it", () => {
  const lines = (markdown: boolean) =>
    comparedLines([PAIR], {
      names: ["a", "b"],
      limit: { relative: 0.01, minUs: 0.05 },
      color: false,
      markdown,
    });
  assertEquals(
    lines(false)[1]!.split("broken: ")[1],
    "ok -> wrong: C: 9 of 9 elements mismatch (100 %)",
  );
  assert(lines(true)[2]!.includes(NOTE));
});
