/**
 * Defines the effort of a search at levels 0 to 5, which trade search time for speed as the builder
 * optimisation levels of TensorRT do.
 *
 * @module
 */

import type { Candidate } from "../model/kernel.ts";
import type { Hint } from "./hints.ts";

/** A round of a search, which times each config that is left once. */
export interface Round {
  /** Milliseconds for a config, as a share of {@linkcode Settings.search}. */
  readonly share: number;
  /** Configs this many times slower than the best, and clearly so, are dropped. */
  readonly within: number;
}

/** The effort of a level. */
export interface Effort {
  /** The most configs that are timed: the first ones by predicted time, or in the kernel's order. */
  readonly most: number;
  /** Configs whose predicted time is more than this many times the least one are left out. */
  readonly within: number;
  /** The number of configs that are timed whatever their predicted time. */
  readonly least: number;
  /** The rounds before the finals. */
  readonly rounds: readonly Round[];
  /** The number of configs that are timed in turns at the end, and the number of turns. */
  readonly finalists: number;
  readonly turns: number;
}

/** Levels 1 to 5. Level 0 times nothing and takes the first legal config. */
const EFFORTS: readonly Effort[] = [
  {
    most: 4,
    within: Infinity,
    least: 4,
    rounds: [{ share: 0.2, within: 1.25 }],
    finalists: 2,
    turns: 2,
  },
  {
    most: 16,
    within: Infinity,
    least: 16,
    rounds: [{ share: 0.2, within: 1.25 }],
    finalists: 3,
    turns: 2,
  },
  {
    most: 64,
    within: 1.5,
    least: 24,
    rounds: [{ share: 0.2, within: 1.25 }, { share: 1, within: 1.08 }],
    finalists: 6,
    turns: 3,
  },
  {
    most: Infinity,
    within: 3,
    least: 128,
    rounds: [{ share: 0.4, within: 1.4 }, { share: 1, within: 1.1 }],
    finalists: 8,
    turns: 4,
  },
  {
    most: Infinity,
    within: Infinity,
    least: Infinity,
    rounds: [{ share: 1, within: 1.4 }, { share: 1, within: 1.1 }],
    finalists: 8,
    turns: 5,
  },
];

/** The highest level. */
export const MOST_LEVEL = EFFORTS.length;

/**
 * Returns the effort of `level`.
 *
 * @throws {RangeError} For level 0, which tries nothing, and for what is no level.
 */
export function effortOf(level: number): Effort {
  const effort = EFFORTS[level - 1];
  if (effort) return effort;
  throw new RangeError(
    `Cannot search at level ${level}: levels that search are 1 to ${MOST_LEVEL}`,
  );
}

/**
 * The number of configs that levels 0 to 3 time of a kernel with recorded configs; `behind`: of a
 * kernel that was far slower than others in the recorded rows
 * (`docs/notes/2026-11-23-fewer-builds.md`).
 */
const HINTED = { most: [1, 2, 4, 6], behind: [1, 1, 2, 2] } as const;
/** The least number of configs that these levels time if fewer are recorded. */
const LEAST = 2;

/**
 * Returns `legal`, which is ordered by predicted time, with recorded configs first: those of the
 * nearest shapes, then the other recorded ones.
 */
export function ordered(
  legal: readonly Candidate[],
  hint: Hint | undefined,
): readonly Candidate[] {
  if (hint === undefined) return legal;
  return [...new Set([...hint.near, ...hint.others, ...legal])];
}

/**
 * The candidates among `legal`, best guess first, that a search at `level` times; the first
 * alone at level 0.
 *
 * @param legal As {@linkcode ordered} returns them.
 * @param hint The recorded configs of their kernel; nothing where none is legal.
 */
export function contenders(
  legal: readonly Candidate[],
  level: number,
  hint?: Hint,
): readonly Candidate[] {
  if (hint !== undefined) return hinted(legal, level, hint);
  if (level === 0) return legal.slice(0, 1);
  const { most, within, least } = effortOf(level);
  const best = legal[0]?.predicted;
  // Without predictions, levels with a limit on predicted time keep all configs.
  if (best === undefined) {
    return within < Infinity ? legal : legal.slice(0, most);
  }
  return legal.filter(({ predicted = 0 }, i) =>
    i < least || predicted <= within * best
  ).slice(0, most);
}

function hinted(
  legal: readonly Candidate[],
  level: number,
  { near, others, behind }: Hint,
): readonly Candidate[] {
  const recorded = new Set([...near, ...others]);
  const known = legal.filter((one) => recorded.has(one));
  const most = HINTED[behind ? "behind" : "most"][level];
  const byModel = legal.toSorted(
    ({ predicted: a = 0 }, { predicted: b = 0 }) => a < b ? -1 : a > b ? 1 : 0,
  );
  // Configs that are not recorded would need builds of their own.
  if (most !== undefined) {
    const few = legal.slice(0, Math.min(most, Math.max(LEAST, known.length)));
    const best = byModel.find(({ predicted }) => predicted !== undefined);
    // Recorded configs may be slow or of distant shapes, so the best by prediction is timed too.
    const enough = behind || level === 0 || best === undefined;
    return enough || few.includes(best)
      ? few
      : [...few.slice(0, most - 1), best];
  }
  const kept = new Set([...known, ...contenders(byModel, level)]);
  return legal.filter((one) => kept.has(one));
}
