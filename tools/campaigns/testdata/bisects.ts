/**
 * Lets `git bisect` find the commit that made a kernel slower.
 *
 * @module
 */

import { join } from "node:path";
import { SOURCE, SUITE } from "../../../cli/testdata/planted.ts";
import { Repository } from "../../../cli/testdata/repository.ts";
import { below, randomOf } from "./mutations.ts";

/** Commits of a repository, of which the first is good and the last is bad. */
const COMMITS = 64;
/** The milliseconds that the kernel waits before and after it was made slower. */
const WAIT_MS = { before: 10, after: 40 };
/** Commits that a bisection may measure: one more than the logarithm of their number. */
const MOST_MEASURED = 8;
const ARGS = [
  ...["--suite", "./suite.ts", "--backend", "cpu"],
  // The difference is far beyond what a busy machine makes of one round.
  ...["--warmup", "1", "--rep", "400", "--runs", "1", "--threshold", "100"],
];

/** The outcome of a campaign. */
export interface Bisected {
  /** Bisections that found the commit. */
  readonly found: number;
  /** The most commits that one of these measured. */
  readonly measured: number;
  /** The seconds of each. */
  readonly seconds: readonly number[];
  /** What went wrong in the others. */
  readonly failures: readonly string[];
}

/** Makes the kernel slower in a random commit of a new repository, `count` times. Needs git and cc. */
export async function bisectPlanted(
  { count, seed, note = () => {} }: {
    readonly count: number;
    readonly seed: number;
    /** Takes a line for each bisection. */
    readonly note?: (line: string) => void;
  },
): Promise<Bisected> {
  const random = randomOf(seed);
  const seconds: number[] = [];
  const failures: string[] = [];
  let most = 0;
  for (let i = 0; i < count; i++) {
    using repository = new Repository();
    const slower = 1 + below(random, COMMITS - 1);
    for (let at = 0; at < COMMITS; at++) {
      const ms = at < slower ? WAIT_MS.before : WAIT_MS.after;
      repository.commit(`commit-${at}`, {
        "suite.ts": SUITE,
        "planted.c": SOURCE(ms, at),
      });
    }
    const start = performance.now();
    try {
      const { first, measured } = await repository.bisect("commit-0", "HEAD", [
        ...ARGS,
        ...["--kernel-cache", join(repository.folder, "cache")],
      ]);
      if (first !== `commit-${slower}` || measured > MOST_MEASURED) {
        failures.push(
          `commit-${slower} is slower, found is ${first} after ${measured} measured`,
        );
      } else most = Math.max(most, measured);
      note(`commit-${slower}: ${first} after ${measured} measured`);
    } catch (error) {
      failures.push(`commit-${slower} is slower: ${error}`);
    }
    seconds.push((performance.now() - start) / 1000);
  }
  return { found: count - failures.length, measured: most, seconds, failures };
}
