/**
 * Plans what happens around the samples of a series: before which samples which inputs change, before
 * which samples outputs are not poisoned, and after which samples outputs are copied for a check.
 *
 * @module
 */

import {
  type Below,
  type Change,
  changeable,
  planChange,
  type StoredInput,
} from "./changes.ts";

/** The changes of inputs before a sample, by the number of the operand set. */
export type Changes = ReadonlyMap<number, readonly Change[]>;

/** The plan of a series. Samples are numbered from 0. */
export interface SeriesPlan {
  /** The changes before a sample, by its number. The last entry restores the original inputs. */
  readonly changes: ReadonlyMap<number, Changes>;
  /** Samples before which the changes of the previous sample are repeated, so that no value is new. */
  readonly again: ReadonlySet<number>;
  /**
   * Samples before which outputs are not poisoned: they keep the results of the inputs before the
   * change.
   */
  readonly stale: ReadonlySet<number>;
  /** Samples after which outputs are copied, to be compared later. */
  readonly kept: readonly number[];
}

/** What a plan depends on. */
export interface Planned {
  readonly count: number;
  /** The inputs of each operand set. */
  readonly inputs: readonly (readonly StoredInput[])[];
  /** The most samples whose outputs are copied. */
  readonly most: number;
  readonly gain: number;
  readonly below: Below;
  /** Returns the operand sets that a sample uses. */
  used(index: number): readonly number[];
  /** Returns whether the inputs of a set may change. */
  mayChange(set: number): boolean;
  /** Whether the device has a copy of the original inputs. Changes of whole inputs need it. */
  readonly hasOriginal: boolean;
  /** Whether the cache is warm: inputs are in it when a sample starts. */
  readonly isWarm: boolean;
  /**
   * Whether a few elements change after the flush. Whole inputs change before it, so a thread of the
   * kernel could compute their result during the flush. With this, each change of whole inputs includes
   * a change of a few elements.
   */
  readonly isLate: boolean;
}

/**
 * The number of changes: one for every `every` samples, but from `least` to `most`. Eight are enough to
 * tell that samples after a change are slower. 16 are needed for a kernel that remembers results but
 * also computes up to half of the other samples.
 */
const CHANGES = { least: 16, most: 32, every: 10 };
/** The share of changes that replace whole inputs. */
const WHOLE = 0.5;
/**
 * With fewer samples than this, those after a change may be the slowest by chance. Then more than half
 * of the samples get new whole inputs, so that the median is the time of computing everything.
 */
const FEW = 24;
/** Outputs of one in so many samples are copied, but of at least {@linkcode LEAST_KEPT} samples. */
const EVERY = 8;
const LEAST_KEPT = 24;
/** The least share of the copied outputs that are of samples right after a change. */
const FRESH = 0.7;

/** Plans a series of samples. */
export function planSeries(planned: Planned): SeriesPlan {
  const { count, below, most } = planned;
  // The original inputs are restored near the end, because the last output is compared in full.
  const end = count - 1 - below(Math.max(1, Math.floor(count / 16)));
  const many = Math.min(CHANGES.most, Math.floor(count / CHANGES.every));
  const places = distinct(Math.max(CHANGES.least, many), end, below);
  const changes = changesOf(places, planned);
  const again = planned.isWarm ? repeatWhole(changes, end) : new Set<number>();
  const sets = new Set([...changes.values()].flatMap((one) => [...one.keys()]));
  if (sets.size > 0) {
    changes.set(
      end,
      new Map([...sets].map((set) => [set, back(set, changes, planned)])),
    );
  }
  const stale = [...changes.keys()].filter((at) =>
    at < count - 1 && below(2) === 0
  );
  const kept = Math.max(LEAST_KEPT, Math.ceil(count / EVERY));
  const seen = new Set<number>();
  if (stale.length > 0) seen.add(stale[below(stale.length)]!);
  seen.add(count - 1);
  const size = Math.min(most, count, kept);
  // A kernel that overlooks a change is wrong right after it, and perhaps only then.
  const fresh = [...changes.keys()].filter((at) => !again.has(at));
  const share = Math.min(Math.ceil(FRESH * size), fresh.length);
  while (seen.size < share) seen.add(fresh[below(fresh.length)]!);
  while (seen.size < size) seen.add(below(count));
  return {
    changes,
    again,
    stale: new Set(stale),
    kept: [...seen].slice(0, size).toSorted((a, b) => a - b),
  };
}

/**
 * Repeats each change of whole inputs before the next sample, unless that sample has a change or is not
 * before `end`. A kernel that computes everything takes as long for the repeated inputs as for new ones.
 *
 * @returns The samples with repeated changes.
 */
function repeatWhole(
  changes: Map<number, Changes>,
  end: number,
): ReadonlySet<number> {
  const again = new Set<number>();
  for (const [at, sets] of [...changes]) {
    const isWhole = [...sets.values()].flat().every(({ kind }) =>
      kind === "turn"
    );
    if (!isWhole || changes.has(at + 1) || at + 1 >= end) continue;
    changes.set(at + 1, sets);
    again.add(at + 1);
  }
  return again;
}

/**
 * Plans a change of one operand set before each sample of `places`. Some changes replace whole inputs,
 * because a kernel may repair a few elements of a result that it remembers. Others replace a few
 * elements, because a kernel may look at other elements only. If there are enough places, each input
 * changes alone at least once in both ways, because a kernel may look at one input only.
 */
function changesOf(
  places: readonly number[],
  { count, inputs, gain, below, used, mayChange, hasOriginal, isLate }: Planned,
): Map<number, Changes> {
  const { length } = places;
  const most = Math.floor(count < FEW ? count / 2 + 1 : WHOLE * length);
  const chosen = new Set(distinct(most, length, below));
  const turn = below(length);
  const made = { whole: 0, patched: 0 };
  const changes = new Map<number, Changes>();
  for (const [i, at] of places.entries()) {
    const sets = used(at).filter(mayChange);
    const set = sets[below(sets.length)];
    if (set === undefined) continue;
    const whole = hasOriginal && chosen.has(i);
    const before = made[whole ? "whole" : "patched"]++;
    const free = changeable(inputs[set]!);
    const alone = free[(before + turn) % free.length];
    if (alone === undefined) continue;
    const which = before >= free.length && below(4) === 0 ? free : [alone];
    const plan = (whole: boolean) =>
      planChange(inputs[set]!, which, { whole, gain, below });
    const change = [
      ...plan(whole),
      ...(whole && isLate ? plan(false) : []),
    ];
    if (change.length > 0) changes.set(at, new Map([[set, change]]));
  }
  return changes;
}

/** Returns the changes that restore the original inputs of `set` after `changes`. */
function back(
  set: number,
  changes: ReadonlyMap<number, Changes>,
  { inputs, hasOriginal }: Planned,
): readonly Change[] {
  if (hasOriginal) {
    return inputs[set]!.map((_, input) => ({ kind: "turn", input, turn: 0 }));
  }
  return [...changes.values()].flatMap((one) => one.get(set) ?? [])
    .flatMap((change): Change[] => {
      if (change.kind !== "patch") return [];
      const { offset, input, bytes: { length } } = change;
      const bytes = inputs[set]![input]!.read(offset, length);
      return [{ ...change, bytes }];
    });
}

/**
 * Returns `count` different random numbers below `n` in ascending order, or all `n` if there are
 * fewer.
 */
function distinct(count: number, n: number, below: Below): number[] {
  const chosen = new Set<number>();
  while (chosen.size < Math.min(count, n)) chosen.add(below(n));
  return [...chosen].toSorted((a, b) => a - b);
}
