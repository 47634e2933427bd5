import { deepStrictEqual } from "node:assert/strict";
import { VERDICT_CASES } from "../testdata/verdict_cases.ts";

/** The cells of the table in `lines`, without what only aligns them. */
function cellsOf(lines: readonly string[]): string[][] {
  return lines.filter((line) => /^\|(?! -)/.test(line)).slice(1)
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

Deno.test("VERDICT_CASES are the pairs of docs/guide/verdicts.md", async () => {
  const file = new URL("../../docs/guide/verdicts.md", import.meta.url);
  const text = await Deno.readTextFile(file);
  const table = text.split("## Constructed pairs")[1]!.split("\n");
  deepStrictEqual(
    cellsOf(table),
    VERDICT_CASES.map(({ what, verdict, code }) => [
      what,
      `\`${verdict}\``,
      `${code}`,
    ]),
  );
});
