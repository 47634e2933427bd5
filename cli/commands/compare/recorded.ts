/**
 * `mnkbench compare BASE NEW` of two sets of recorded rows: measures again what is slower or
 * unclear, each side by its own binaries.
 *
 * @module
 */

import { counted } from "../../../bench/files/terminal_text.ts";
import { UserError } from "../../../bench/model/errors.ts";
import { isPythonLibrary } from "../../../bench/model/peer.ts";
import { keyText } from "../../../bench/row/row.ts";
import {
  formatChange,
  rowOf,
  summarizeDiff,
  titleOf,
} from "../../../report/diff/diff.ts";
import type { Evidence } from "../../../report/diff/interval.ts";
import {
  formatRatio,
  intervalInTurns,
  ratioOf,
} from "../../../report/diff/ratio.ts";
import { judge, type Judged } from "../../../report/diff/verdict.ts";
import { cannot, type Doubt, pairsOf } from "../../../session/confirm/jobs.ts";
import { isFile, isSource } from "../../../session/cases.ts";
import type { ComparedRuns } from "../../../session/options.ts";
import { textOf } from "../../options/flags.ts";
import { chooserOf } from "../../options/named_rows.ts";
import type { Sides } from "../../options/usual_paths.ts";
import { logLine, printLine } from "../../terminal/output.ts";
import { hasPairs, nothingInBoth, show } from "../diff.ts";
import { type Comparing, exitCodeOfDiff } from "../diff/compare.ts";
import {
  compareRows,
  limitsOf,
} from "../../../session/library/compare_rows.ts";
import { inTurns } from "./turns.ts";

/** Options of measuring both sides again. */
type Confirming = Comparing & Sides & ComparedRuns;
type One = Judged;

/** Compares, measures the doubtful rows again, and prints. */
export async function confirm(options: Confirming): Promise<number> {
  const { suites, kernels, overrides, where } = options;
  const first = await compareRows(options, {
    ...options,
    chooser: chooserOf({
      // A suite file is there to be run: its text may not say what its suite is called.
      suites: suites.some((one) => isFile(one) && !isSource(one)) ? [] : suites,
      kernels,
      point: { ...textOf(overrides), ...where },
    }),
    note: logLine,
  });
  const { peers = [], ours = [] } = Object.groupBy(
    first.judged.filter(isDoubtful),
    (one) => isPeer(one) ? "peers" : "ours",
  );
  let judged = first.judged.map((one) => peers.includes(one) ? left(one) : one);
  let refusal: UserError | undefined;
  try {
    const again = await measureAgain(ours, options);
    judged = judged.map((one) => again.get(one) ?? one);
  } catch (error) {
    // What was compared is shown all the same, and may have a worse code.
    if (!(error instanceof UserError)) throw error;
    refusal = error;
  }
  const found = summarizeDiff(judged);
  printLine(show(found, options).join("\n"));
  const code = exitCodeOfDiff(found, options.failOn);
  if (peers.length > 0) logLine(peersLine(peers.length));
  if (refusal) {
    logLine(`error: ${refusal.message}`);
    return Math.max(code, refusal.code);
  }
  if (!hasPairs(first)) return nothingInBoth(options, code);
  logLine(
    ours.length === 0
      ? `No row${
        peers.length > 0 ? " of ours" : ""
      } is slower or unclear: nothing was measured again`
      : `Measured ${counted(ours.length, "row")} again: ${
        counted(
          judged.filter((one) => isSlower(one) && !isPeer(one)).length,
          "is",
          "are",
        )
      } slower`,
  );
  return code;
}

function isPeer({ pair }: One): boolean {
  return isPythonLibrary(rowOf(pair).library);
}

function isSlower({ verdict, also }: One): boolean {
  return verdict === "slower" || also === "slower";
}

function isDoubtful({ verdict, also }: One): boolean {
  return [verdict, also].some((v) => v === "slower" || v === "unclear");
}

/** `one`, a peer's, which keeps what the comparison says of it. */
function left(one: One): One {
  const said = "not measured again: it is a peer's";
  return { ...one, why: one.why === "" ? said : `${one.why}; ${said}` };
}

/** Says that `count` rows of peers keep their verdict, and what to do instead. */
function peersLine(count: number): string {
  return `${
    counted(count, "row of peers was", "rows of peers were")
  } not measured again, as another PyTorch or config of theirs cannot be put back: measure both sides with \`bench --peers torch\``;
}

async function measureAgain(
  doubts: readonly One[],
  options: Confirming,
): Promise<ReadonlyMap<One, One>> {
  if (doubts.length === 0) return new Map();
  const rows = doubts.map(({ pair }): Doubt => ({
    base: pair.base!,
    next: pair.next!,
  }));
  const twins = await pairsOf(rows, options);
  const base = new Map<string, Evidence>();
  const next = new Map<string, Evidence>();
  for (const pair of twins) {
    const sides = await inTurns({
      ...options,
      title: "confirm",
      cases: pair.cases,
      job: (side) => pair[side],
    });
    if (sides.cut) {
      throw cannot(`${sides.cut.message}; give the same command again`);
    }
    for (const [key, own] of sides.base.evidence) base.set(key, own);
    for (const [key, own] of sides.next.evidence) next.set(key, own);
  }
  const limits = limitsOf(options);
  return new Map(doubts.map((one) => {
    const key = keyText(rowOf(one.pair));
    const side = (of: ReadonlyMap<string, Evidence>, name: string) => {
      const own = of.get(key);
      if (own?.row.status === "ok") return own;
      throw cannot(
        `the ${name} of ${titleOf(rowOf(one.pair))} gave no time now: ${
          own === undefined ? "no row" : `${own.row.status}, ${own.row.note}`
        }`,
      );
    };
    const again = verdictOf(one, {
      base: side(base, "base"),
      next: side(next, "new build"),
      threshold: limits(rowOf(one.pair).suite),
    });
    return [one, again];
  }));
}

/** Judges a pair after it was measured again. */
function verdictOf(
  one: One,
  { base, next, threshold }: {
    readonly base: Evidence;
    readonly next: Evidence;
    readonly threshold: Parameters<typeof judge>[1]["threshold"];
  },
): One {
  const place = { file: "measured again", line: 1 };
  const again = judge(
    { base: { ...place, row: base.row }, next: { ...place, row: next.row } },
    { threshold, interval: () => intervalInTurns(base, next) },
  );
  const { speed } = again;
  const before = `measured again, ${
    formatRatio(ratioOf({ base, next }))
  } as fast; ${formatChange(one.speed!.change)} before`;
  if (one.verdict === "less-accurate" || one.verdict === "suspect") {
    const also = again.also ?? again.verdict;
    return {
      ...one,
      also,
      ...(speed && { speed }),
      why: `${one.why}; ${before}`,
    };
  }
  const why = again.why === "" ? before : `${again.why}; ${before}`;
  return { ...again, pair: one.pair, why };
}
