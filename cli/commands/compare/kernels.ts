/**
 * `mnkbench compare A B` of two kernels: measures both at the same points, in turns.
 *
 * @module
 */

import { EXIT } from "../../../bench/model/errors.ts";
import type { Settings } from "../../../bench/model/settings.ts";
import type { Case } from "../../../bench/model/suite.ts";
import { axesOf, caseText, keyOf } from "../../../bench/row/row.ts";
import type { Job } from "../../../bench/worker/protocol.ts";
import { summarizeDiff } from "../../../report/diff/diff.ts";
import type { Evidence } from "../../../report/diff/interval.ts";
import { intervalInTurns } from "../../../report/diff/ratio.ts";
import { diffJunit } from "../../../report/diff/machine.ts";
import {
  comparedJson,
  comparedLines,
  type ComparedPair,
  judgedAsOne,
} from "../../../report/diff/compared.ts";
import { labelOf } from "../../../report/model/axes.ts";
import type { Threshold } from "../../../report/diff/thresholds.ts";
import { judge, type Judged, VERDICTS } from "../../../report/diff/verdict.ts";
import {
  type ComparedRuns,
  type PeerChoice,
  settingsOf,
  type Tuning,
} from "../../../session/options.ts";
import { jobOf } from "../../../session/run_job.ts";
import { logLine, printLine, screenOf } from "../../terminal/output.ts";
import { type Comparing, exitCodeOfDiff } from "../diff/compare.ts";
import { type CasePair, type Names, selectSides, type Sides } from "./sides.ts";
import {
  type BothMeasured,
  inTurns,
  limitsInTurns,
  RUNS,
  type Side,
} from "./turns.ts";

type Options =
  & ComparedRuns
  & Tuning
  & PeerChoice
  & Omit<Comparing, "base" | "next">;

/** Measures the kernels `names` in turns and prints what differs. @returns The exit code. */
export async function compareKernels(
  names: Names,
  options: Options,
): Promise<number> {
  const sides = await selectSides(names, options);
  const settings = settingsOf(options);
  const { pairs } = sides;
  const measured = await inTurns({
    ...options,
    title: "compare",
    cases: pairs.length,
    job: (side, measured) => jobOfSide(side, sides, { measured, settings }),
  });
  const limit = limitsInTurns(options)(pairs[0]!.next.suite);
  const compared = evidenceOf(pairs, measured)
    .filter((pair) => bothRun(pair, names))
    .map((pair): ComparedPair => {
      const judged = verdictOf(pair, limit);
      return areOneBinary(pair, names)
        ? { ...pair, isOneBinary: true, judged: judgedAsOne(judged) }
        : { ...pair, judged };
    });
  const { only } = options;
  const shown = { names, limit, only, ...screenOf(Deno.stdout) };
  const found = summarizeDiff(compared.map(({ judged }) => judged));
  if (options.format === "json") printLine(comparedJson(compared, shown));
  else if (options.format === "junit") {
    const { failOn } = options;
    const all = { failOn, only: only ?? VERDICTS, fold: false };
    for (const line of diffJunit(found, all)) printLine(line);
  } else {
    const markdown = options.format === "md";
    for (const line of comparedLines(compared, { ...shown, markdown })) {
      printLine(line);
    }
  }
  const code = exitCodeOfDiff(found, options.failOn);
  if (found.counts.unclear > 0) {
    const { runs = RUNS } = options;
    logLine(
      `${found.counts.unclear} unclear, as runs differ by more than the kernels: give --runs ${
        2 * runs
      } or a longer --rep`,
    );
  }
  if (measured.cut) {
    logLine(`error: ${measured.cut.message}`);
    return Math.max(code, measured.cut.code);
  }
  const isFound = ({ judged }: ComparedPair) =>
    judged.speed !== undefined || judged.verdict === "fixed";
  if (compared.some(isFound)) return code;
  // A verdict such as "broken" says by itself why there is no time.
  if (compared.length === 0) {
    logLine(
      "Nothing was compared: both sides can run at no point; choose others with --suite, --m, --n, --k and --axis",
    );
  }
  return Math.max(code, EXIT.nothing);
}

/** The next job of a side; what failed on either side once is not tried again. */
function jobOfSide(
  side: Side,
  { pairs, selected }: Sides,
  { measured, settings }: {
    readonly measured: BothMeasured;
    readonly settings: Settings;
  },
): Job | undefined {
  const [base, next] = [statusIn(measured.base), statusIn(measured.next)];
  const own = side === "base" ? base : next;
  const cases = pairs.filter((pair) =>
    own(pair[side]) === undefined ||
    base(pair.base) !== "failed" && next(pair.next) !== "failed"
  ).map((pair) => pair[side]);
  if (cases.length === 0) return undefined;
  return jobOf({
    ...selected[side],
    cases,
    settings,
    run: "compare",
    // All runs of a side are of one build: the configs that its first one chose.
    configs: { chosen: measured[side].winners },
  });
}

function statusIn({ evidence }: BothMeasured[Side]) {
  const all = byCase(evidence);
  return (one: Case): "ok" | "failed" | undefined => {
    const found = all.get(caseText(keyOf(one)));
    return found && (found.row.status === "ok" ? "ok" : "failed");
  };
}

function byCase(
  evidence: ReadonlyMap<string, Evidence>,
): ReadonlyMap<string, Evidence> {
  return new Map(
    [...evidence.values()].map((one) => [caseText(one.row), one]),
  );
}

/** The pairs of which both sides have a row. */
function evidenceOf(
  pairs: readonly CasePair[],
  measured: BothMeasured,
): readonly Readonly<Record<Side, Evidence>>[] {
  const all = {
    base: byCase(measured.base.evidence),
    next: byCase(measured.next.evidence),
  };
  return pairs.flatMap((pair) => {
    const base = all.base.get(caseText(keyOf(pair.base)));
    const next = all.next.get(caseText(keyOf(pair.next)));
    return base && next ? [{ base, next }] : [];
  });
}

/** Returns whether either side could run; tells of the other where it could not. */
function bothRun(
  { base, next }: Readonly<Record<Side, Evidence>>,
  names: Names,
): boolean {
  const at = [base, next].findIndex(({ row }) => row.status === "unsupported");
  if (at < 0) return true;
  const { row } = at === 0 ? base : next;
  logLine(
    `Left out ${labelOf(row, Object.keys(axesOf(row)))}: ${
      names[at]
    } cannot run there, ${row.note}`,
  );
  return false;
}

/**
 * Returns whether both sides launched one binary in the same way. On a GPU settings of a launch are
 * in comments and names of sources, and in no binary.
 */
function areOneBinary(
  { base, next }: Readonly<Record<Side, Evidence>>,
  names: Names,
): boolean {
  const [a, b] = names.map((name) => name.split("?")[1]);
  const columns = ["kernel", "config", "binary_hash"] as const;
  return base.row.binary_hash !== "" && a === b &&
    columns.every((column) => base.row[column] === next.row[column]) &&
    (base.row.backend === "cpu" ||
      base.row.source_hash === next.row.source_hash);
}

/**
 * Judges two kernels by the words of `diff`. Both are right within their tolerance, so an error
 * that is greater in one than in the other is a reason, and no verdict.
 */
function verdictOf(
  { base, next }: Readonly<Record<Side, Evidence>>,
  threshold: Threshold,
): Judged {
  const place = { file: "measured", line: 1 };
  const judged = judge(
    { base: { ...place, row: base.row }, next: { ...place, row: next.row } },
    { threshold, interval: () => intervalInTurns(base, next) },
  );
  const { verdict, also, ...rest } = judged;
  return verdict === "less-accurate" && also !== undefined
    ? { ...rest, verdict: also }
    : judged;
}
