/**
 * Two runs as a report has them: the rows of both, and the verdict on every case.
 *
 * @module
 */

import type { Outcome } from "../../../report/page/report.ts";
import { causesOf, type Judged } from "../../../report/diff/verdict.ts";
import { compare } from "../diff/compare.ts";
import type { SourcedRow } from "../../../session/read_rows.ts";

/** The rows of both runs, and what became of each case, by the places of its rows. */
export interface Pairs {
  readonly base: readonly SourcedRow[];
  readonly now: readonly SourcedRow[];
  readonly outcomes: readonly Outcome[];
}

/** Verdicts whose likely cause is worth a look. */
const EXPLAINED = ["slower", "faster", "unclear", "suspect", "less-accurate"];

/**
 * Reads and judges both sides, as `diff` does.
 *
 * @throws {UserError} For what `diff` refuses.
 */
export async function outcomesOf(
  { threshold }: { readonly threshold: number | undefined },
  paths: { readonly base: string; readonly next: string },
): Promise<Pairs> {
  const { judged } = await compare({
    ...paths,
    threshold,
    minUs: undefined,
    failOn: [],
    only: undefined,
    format: "text",
    config: undefined,
  });
  const base = inOrder(judged.map(({ pair }) => pair.base));
  const now = inOrder(judged.map(({ pair }) => pair.next));
  const places = new Map(
    [base, now].flatMap((rows) => [...rows.entries()])
      .map(([at, row]) => [row, at]),
  );
  const outcomes = judged.map((one): Outcome => ({
    ...(one.pair.next && { now: places.get(one.pair.next)! }),
    ...(one.pair.base && { base: places.get(one.pair.base)! }),
    verdict: one.verdict,
    why: whyOf(one),
  }));
  return { base, now, outcomes };
}

/** Rows as they stand in their files: verdicts have the worst first. */
function inOrder(rows: readonly (SourcedRow | undefined)[]): SourcedRow[] {
  return rows.filter((row) => row !== undefined).toSorted((a, b) =>
    a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1
  );
}

function whyOf({ pair, verdict, also, why }: Judged): string {
  const causes = EXPLAINED.includes(verdict) ? causesOf(pair) : [];
  return [
    why,
    also === undefined ? "" : `otherwise ${also}`,
    causes.length > 0 ? `what else changed: ${causes.join(", ")}` : "",
  ].filter((part) => part !== "").join("; ");
}
