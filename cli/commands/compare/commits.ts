/**
 * `mnkbench compare BASE..HEAD`: measures two commits, host code included, in turns.
 *
 * @module
 */

import { join } from "node:path";
import { counted } from "../../../bench/files/terminal_text.ts";
import { ProgramError, runProgram } from "../../../bench/files/run_program.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { identityOf } from "../../../bench/row/row.ts";
import type { Judged, Verdict } from "../../../report/diff/verdict.ts";
import { type Diff, summarizeDiff } from "../../../report/diff/diff.ts";
import type { Evidence } from "../../../report/diff/interval.ts";
import { join as pairsOf, type Pair } from "../../../report/diff/join.ts";
import {
  joined,
  type Look,
  lookAt,
  LOOKS,
  meanSpread,
} from "../../../report/diff/sequential.ts";
import { evidenceOf, readRows } from "../../../session/read_rows.ts";
import type { Running } from "../../../session/options.ts";
import { hasRows } from "../../options/usual_paths.ts";
import {
  Interrupt,
  logLine,
  printLine,
  Progress,
  SKIP,
} from "../../terminal/output.ts";
import { show } from "../diff.ts";
import { type Comparing, exitCodeOfDiff } from "../diff/compare.ts";
import { argsOfSides, type Compared } from "./bench_args.ts";
import { type Checkout, type Checkouts, lastLine } from "./checkouts.ts";
import { limitsInTurns, type Side } from "./turns.ts";

type Options =
  & Omit<Comparing, "base" | "next">
  & Pick<Running, "kernelCache">
  & {
    readonly runs?: number | undefined;
    /** Seconds after which no round starts. */
    readonly budget?: number | undefined;
    /** Whether the exit code is for `git bisect run`. */
    readonly bisect: boolean;
  };

/** A day: each case has its own limit. */
const LIMIT_MS = 24 * 3600e3;

/** Measures both sides of `checkouts` with the options `args` of `bench`. @returns The exit code. */
export async function compareCheckouts(
  make: () => Promise<Checkouts>,
  args: readonly string[],
  options: Options & Compared,
): Promise<number> {
  using interrupt = new Interrupt();
  const { signal } = interrupt;
  await using checkouts = await make();
  const own = await argsOfSides(checkouts, args, options);
  const rounds = new Rounds(checkouts, own, signal);
  const { runs, budget = Infinity } = options;
  const looks = runs === undefined ? LOOKS : [runs];
  const start = performance.now();
  const isLate = () => performance.now() - start > 1000 * budget;
  using progress = new Progress("compare", 2 * looks.at(-1)!);
  let seen: readonly Look[] = [];
  let cut: UserError | undefined;
  for (let round = 0; round < looks.at(-1)!; round++) {
    if (round >= looks[0]! && isLate()) break;
    // What drifts while they run would else always be on the same side's account.
    const order = ["base", "next"] as const;
    try {
      for (const side of round % 2 === 0 ? order : order.toReversed()) {
        progress.update({ note: checkouts[side].name });
        await rounds.measure(side);
        progress.step();
      }
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      cut = error;
      break;
    }
    if (!looks.includes(round + 1)) continue;
    seen = rounds.look(looks.length, options);
    if (seen.every(({ settled }) => settled)) break;
  }
  progress[Symbol.dispose]();
  // Rounds after the last planned look count too.
  if (rounds.isComplete) seen = rounds.look(looks.length, options);
  const found = summarizeDiff(seen.map(({ judged }) => judged));
  if (seen.length > 0) showFound(found, rounds, options);
  const code = exitCodeOfDiff(found, options.failOn);
  if (cut) {
    logLine(`error: ${cut.message}`);
    return options.bisect ? SKIP : Math.max(code, cut.code);
  }
  if (found.counts.unclear > 0 && runs === undefined) {
    logLine(
      `${found.counts.unclear} unclear after ${
        counted(rounds.count, "round")
      }: give a longer --rep${budget === Infinity ? "" : " or --budget"}`,
    );
  }
  if (options.bisect) return bisectCode(found);
  return seen.some(({ judged }) => judged.speed)
    ? code
    : Math.max(code, EXIT.nothing);
}

/** Verdicts of a commit that `git bisect` is to find. */
const BAD: readonly (Verdict | undefined)[] = [
  "slower",
  "less-accurate",
  "broken",
];
/** Those that say that it is not. */
const GOOD: readonly Verdict[] = ["same", "faster", "fixed", "new"];

/**
 * Returns the exit code for `git bisect run`: 1 where a row is slower, less accurate or broken, 0
 * where none is and all are known, else {@linkcode SKIP}. A kernel that does not compile says
 * nothing of its speed.
 */
function bisectCode({ judged }: Diff): number {
  const isBuilt = ({ pair }: Judged) => pair.next?.row.status !== "compile";
  const isBad = ({ verdict, also }: Judged) =>
    BAD.includes(verdict) || BAD.includes(also);
  if (judged.some((one) => isBad(one) && isBuilt(one))) return EXIT.failed;
  const isKnown = judged.some(({ speed }) => speed) &&
    judged.every((one) => GOOD.includes(one.verdict) && isBuilt(one));
  return isKnown ? EXIT.ok : SKIP;
}

function showFound(found: Diff, rounds: Rounds, options: Options): void {
  const text = options.format === "text" || options.format === "md";
  const lines = [...show(found, options), ...(text ? [""] : [])];
  printLine(lines.join("\n"));
  (text ? printLine : logLine)(rounds.spreadLine());
}

/** What was measured of each side, in rounds. */
class Rounds {
  readonly #rows = {
    base: new Map<string, Evidence[]>(),
    next: new Map<string, Evidence[]>(),
  };
  #measured = { base: 0, next: 0 };

  constructor(
    readonly checkouts: Checkouts,
    readonly args: Readonly<Record<Side, readonly string[]>>,
    readonly signal: AbortSignal,
  ) {}

  /** The rounds of the side that has fewer. */
  get count(): number {
    return Math.min(this.#measured.base, this.#measured.next);
  }

  /** Whether there is something to compare. */
  get isComplete(): boolean {
    return this.count > 0;
  }

  /**
   * Measures a side once more, in a process of its own program.
   *
   * @throws {UserError} Where it gives no rows, and where the user stopped it.
   */
  async measure(side: Side): Promise<void> {
    const out = join(
      this.checkouts.rounds,
      `${side}-${this.#measured[side] + 1}`,
    );
    const checkout = this.checkouts[side];
    const { said, code } = await this.#bench(checkout, this.args[side], out);
    if (this.signal.aborted) {
      throw new UserError(
        `Stopped in round ${this.#measured[side] + 1}`,
        EXIT.failed,
      );
    }
    const rows = await rowsIn(out);
    if (rows === undefined) {
      throw new UserError(
        `Cannot measure ${checkout.name}: ${lastLine(said)}`,
        code === EXIT.usage ? EXIT.usage : EXIT.nothing,
      );
    }
    for (const evidence of rows) {
      const key = identityOf(evidence.row);
      const all = this.#rows[side];
      all.set(key, [...all.get(key) ?? [], evidence]);
    }
    this.#measured[side]++;
  }

  async #bench(
    { program, folder, kernelCache }: Checkout,
    args: readonly string[],
    out: string,
  ): Promise<{ readonly said: string; readonly code?: number }> {
    const isTold = args.some((arg) => /^--(no-)?timing-cache(=|$)/.test(arg));
    const caches = [
      ...(isTold ? [] : ["--timing-cache", this.checkouts.timingCache]),
      ...(kernelCache === undefined ? [] : ["--kernel-cache", kernelCache]),
    ];
    try {
      const { stderr, code } = await runProgram(Deno.execPath(), {
        args: [
          ...[...program, "bench", ...args],
          ...["--runs", "1", "--fresh", "--out", out, ...caches],
        ],
        cwd: folder,
        // It is not where this program was typed.
        env: { INIT_CWD: folder },
        limitMs: LIMIT_MS,
        stop: this.signal,
      });
      return { said: stderr, code };
    } catch (error) {
      if (error instanceof ProgramError) return { said: error.message };
      throw error;
    }
  }

  /** Judges all cases after the rounds so far. */
  look(looks: number, options: Options): readonly Look[] {
    const limits = limitsInTurns(options);
    const all = this.#joined();
    const pairs = pairsOf(all.base, all.next);
    const plan = { looks, cases: pairs.length };
    return pairs.map((pair): Look => {
      const { suite } = (pair.next ?? pair.base)!.row;
      const rounds = this.#evidence(pair);
      return lookAt(pair, { rounds, plan, threshold: limits(suite) });
    });
  }

  #evidence({ base, next }: Pair): [Evidence, Evidence] | undefined {
    if (base === undefined || next === undefined) return undefined;
    return [
      joined(this.#rows.base.get(identityOf(base.row))!),
      joined(this.#rows.next.get(identityOf(next.row))!),
    ];
  }

  #joined() {
    const of = (side: Side) =>
      [...this.#rows[side].values()].map((rounds, i) => ({
        file: this.checkouts[side].name,
        line: i + 1,
        row: joined(rounds).row,
      }));
    return { base: of("base"), next: of("next") };
  }

  /** Says what rounds of one side differ by: no change of the code. */
  spreadLine(): string {
    const { base, next } = this.#joined();
    const [from, to] = [base, next].map((rows) => {
      const share = meanSpread(rows);
      return share === undefined ? "unknown" : `${(100 * share).toFixed(1)} %`;
    });
    const names = [this.checkouts.base.name, this.checkouts.next.name];
    return `${
      counted(this.count, "round")
    }; standard deviation between rounds, mean of all cases: ${from} in ${
      names[0]
    }, ${to} in ${names[1]}`;
  }
}

/** Returns the rows and samples in `folder`; nothing where there are none. @throws {UserError} */
async function rowsIn(
  folder: string,
): Promise<readonly Evidence[] | undefined> {
  if (!hasRows(folder)) return undefined;
  return [...(await evidenceOf(await readRows([folder]))).values()];
}
