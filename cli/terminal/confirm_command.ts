/**
 * Names the command that measures doubtful rows of a comparison again.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { type Diff, rowOf } from "../../report/diff/diff.ts";
import { isPublished } from "../../bench/row/case_key.ts";
import { isNoisyRow } from "../../report/model/noise.ts";
import type { Judged } from "../../report/diff/verdict.ts";
import { suites as builtIn } from "../../suites/mod.ts";
import { quoted } from "./command_words.ts";
import { typed } from "../../session/home.ts";
import type { Comparing } from "../options/judging.ts";
import { isPeer } from "../../peers/peer_cases.ts";

/**
 * The command that settles whether rows of `diff` are slower, where some are of one run or
 * noisy on either side; nothing where all are of several quiet runs, or are not of here.
 */
export function confirmLine(
  { judged }: Diff,
  options: Pick<Comparing, "base" | "next"> & Partial<Comparing>,
): string | undefined {
  const slower = judged.filter(isSlower);
  const doubtful = slower.filter(({ pair: { base, next } }) =>
    [base!.row, next!.row].some(saysLittle)
  );
  if (doubtful.length === 0) return undefined;
  const { base, next, threshold, minUs, config } = options;
  // It loads the suites of all rows that are slower or unclear, or those that are named.
  const suites = new Set(
    judged.filter((one) => isSlower(one) || isUnclear(one))
      .map(({ pair }) => rowOf(pair).suite),
  );
  const own = [...suites].filter((name) =>
    !builtIn.some((suite) => suite.name === name)
  );
  const words = [
    "compare",
    quoted(base),
    quoted(next),
    ...(threshold === undefined ? [] : [`--threshold ${threshold}`]),
    ...(minUs === undefined ? [] : [`--min-us ${minUs}`]),
    ...(config === undefined ? [] : [`--config ${quoted(config)}`]),
    ...(own.length === 0
      ? []
      : [...suites].map((name) =>
        `--suite ${own.includes(name) ? "FILE" : name}`
      )),
  ];
  const files = own.length === 0
    ? ""
    : `, where FILE has the suite ${own.join(", another ")}`;
  const count = doubtful.length === slower.length
    ? `${slower.length}`
    : `${doubtful.length} of ${slower.length}`;
  return `Next, as ${count} slower ${
    slower.length === 1 ? "row is" : "rows are"
  } of a single run or noisy, both builds again in turns: ${
    typed(words.join(" "))
  }${files}`;
}

function isSlower({ verdict, also, pair }: Judged): boolean {
  return (verdict === "slower" || also === "slower") && isOurs(rowOf(pair));
}

function isUnclear({ verdict, also, pair }: Judged): boolean {
  return (verdict === "unclear" || also === "unclear") && isOurs(rowOf(pair));
}

/** Neither a peer nor what was published elsewhere can be measured again. */
function isOurs(row: CsvRow): boolean {
  return !isPeer(row) && !isPublished(row);
}

function saysLittle(row: CsvRow): boolean {
  return Number(row.runs) < 2 || isNoisyRow(row);
}
