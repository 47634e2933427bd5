/**
 * `mnkbench compare`: measures two builds in turns, or one build against itself.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { multiple } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { argument } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { counted } from "../../bench/files/terminal_text.ts";
import { UserError } from "../../bench/model/errors.ts";
import { LATEST, RESULTS } from "../../session/home.ts";
import { BRIEFS, define } from "../command.ts";
import {
  about,
  choiceFlags,
  maybe,
  preset,
  runningFlags,
  targetFlags,
  timingFlags,
  toggle,
  type Words,
} from "../options/flags.ts";
import {
  compareRows,
  type Comparing,
  exitCodeOfDiff,
  judgingFlags,
  limitsOf,
} from "./diff/compare.ts";
import { number, path } from "../options/readers.ts";
import { type Sides, sidesOf } from "../options/usual_paths.ts";
import { isPeerLibrary } from "../../bench/model/peer.ts";
import { keyText } from "../../bench/row/row.ts";
import {
  formatChange,
  rowOf,
  summarizeDiff,
  titleOf,
} from "../../report/diff/diff.ts";
import { type Evidence, intervalOf } from "../../report/diff/interval.ts";
import { judge, type Judged } from "../../report/diff/verdict.ts";
import {
  cannot,
  type Doubt,
  type JobPair,
  pairsOf,
} from "../../session/confirm/jobs.ts";
import { show } from "./diff.ts";
import { Interrupt, Progress, say, tell } from "../terminal/output.ts";
import type { ComparedRuns } from "../../session/options.ts";
import { Measured } from "../../session/run_job.ts";
import { calibrate } from "./compare/calibrate.ts";

/** `mnkbench compare`. */
export const command = define({
  name: "compare",
  brief: BRIEFS.compare,
  examples: [
    "compare results/nvidia-h200 new/nvidia-h200",
    "compare --calibrate --suite matmul-bf16 --times 5",
  ],
  codes: {
    0: "nothing to fail on, or the calibration is written",
    1: "a row is slower when measured again; stopped by Ctrl-C it is 130",
    3: "a row is missing, incomparable or cannot be measured again",
    4: "a row is broken or less accurate",
  },
  flags,
  run: compare,
});

function flags(words: Words) {
  const count = number("COUNT", { least: 1 });
  return merge(
    object("Comparing", {
      paths: multiple(
        argument(
          string({ metavar: "PATH" }),
          about(
            `BASE and NEW: a CSV, folder or glob each (default: ${RESULTS} and ${LATEST}, only the cases of the latter). With --calibrate: a path for each run.`,
          ),
        ),
      ),
      calibrate: toggle(
        "--calibrate",
        "Compare runs of one build, and record each row's minimal detectable effect.",
      ),
      times: maybe(
        "--times",
        count,
        "With --calibrate: number of runs to measure (default: 5).",
      ),
      runs: maybe(
        "--runs",
        count,
        "Repeats of each side (default: 5; with --calibrate: 1).",
      ),
      out: preset(
        "--out",
        path("DIR"),
        "With --calibrate: folder of the results.",
        RESULTS,
      ),
    }),
    judgingFlags(),
    choiceFlags(
      words,
      "with --calibrate those of bench, else those of the rows",
    ),
    targetFlags(words),
    timingFlags(),
    runningFlags(),
  );
}

async function compare(
  options: InferValue<ReturnType<typeof flags>>,
): Promise<number> {
  const { paths } = options;
  if (options.calibrate) return await calibrate(options);
  if (paths.length > 2) {
    throw new UserError(
      `Cannot compare ${
        counted(paths.length, "path")
      }: give the rows before and after, compare BASE NEW, or runs of one build with --calibrate`,
    );
  }
  return await confirm({ ...options, ...sidesOf("compare", paths) });
}

/** Re-runs of either side unless told otherwise: five give a spread to go by. */
const RUNS = 5;

/** Options of measuring both sides again. */
type Confirming = Comparing & Sides & ComparedRuns;
type One = Judged;

/** Compares, measures the doubtful rows again, and prints. */
async function confirm(options: Confirming): Promise<number> {
  const first = await compareRows(options, options);
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
  say(show(found, options).join("\n"));
  const code = exitCodeOfDiff(found, options.failOn);
  if (peers.length > 0) tell(peersLine(peers.length));
  if (refusal) {
    tell(`error: ${refusal.message}`);
    return Math.max(code, refusal.code);
  }
  tell(
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
  return isPeerLibrary(rowOf(pair).library);
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
    const sides = await inTurns(pair, options);
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
    { threshold, interval: () => intervalOf(base, next) },
  );
  const { speed } = again;
  const before = `measured again, ${formatChange(one.speed!.change)} before`;
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

/** Either side so many times, each in a fresh worker, the first alternating. */
async function inTurns(
  { base, next, cases }: JobPair,
  { runs = RUNS, timeout }: Confirming,
): Promise<{ readonly base: Measured; readonly next: Measured }> {
  const sides = { base: new Measured(), next: new Measured() };
  using interrupt = new Interrupt();
  using progress = new Progress("confirm", 2 * runs * cases);
  let done = 0;
  for (let round = 0; round < runs; round++) {
    // What drifts while they run would else always be on the same side's account.
    const order = ["base", "next"] as const;
    for (const side of round % 2 === 0 ? order : order.toReversed()) {
      done = await sides[side].measure(side === "base" ? base : next, {
        progress,
        timeout,
        signal: interrupt.signal,
        done,
      });
      if (interrupt.signal.aborted) {
        throw cannot("it was stopped; give the same command again");
      }
    }
  }
  return sides;
}
