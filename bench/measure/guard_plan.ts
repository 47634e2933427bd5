/**
 * Plans what happens around the samples of a series: when which inputs change, which outputs keep
 * what they hold, and which are kept.
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

/** Changes by set. */
export type Changes = ReadonlyMap<number, readonly Change[]>;

/** The plan of a series. Samples are numbered from 0. */
export interface SeriesPlan {
  /** By sample. The last entry makes the inputs the original ones. */
  readonly changes: ReadonlyMap<number, Changes>;
  /** Samples whose changes are those of the sample before, once more. */
  readonly again: ReadonlySet<number>;
  /** Samples before which outputs keep what was right before the change. */
  readonly stale: ReadonlySet<number>;
  /** Samples whose outputs are kept. */
  readonly kept: readonly number[];
}

/** The inputs of a plan. */
export interface Planned {
  readonly count: number;
  /** The inputs of each set. */
  readonly inputs: readonly (readonly StoredInput[])[];
  /** Samples whose outputs are kept at most. */
  readonly most: number;
  readonly gain: number;
  readonly below: Below;
  /** The sets that a sample uses. */
  used(index: number): readonly number[];
  /** Whether the inputs of a set may change. */
  mayChange(set: number): boolean;
  /** Whether there is a copy of the original inputs. */
  readonly hasOriginal: boolean;
  /** Whether inputs are to be in the cache. */
  readonly isWarm: boolean;
  /**
   * Whether changes of a few elements come after the flush. Each change of whole inputs then includes
   * one, because a thread could compute the result of the changed inputs during the flush.
   */
  readonly isLate: boolean;
}

/**
 * Changes: one in `every` samples, within limits. Half of the least are enough to tell that samples
 * after one are slower; of a kernel that also computes up to half of the others it takes 16.
 */
const CHANGES = { least: 16, most: 32, every: 10 };
/** The share of them that are of whole inputs. */
const WHOLE = 0.5;
/**
 * Samples below which chance may make those after changes the slowest. More than half of them have
 * whole inputs that are new, so that their median is the time of computing all.
 */
const FEW = 24;
/** One copy of the outputs in so many samples; more where samples are few. */
const EVERY = 8;
const LEAST_KEPT = 24;
/** The share of the kept outputs that are of samples right after a change. */
const FRESH = 0.7;

/** Plans a series of samples. */
export function planSeries(planned: Planned): SeriesPlan {
  const { count, below, most } = planned;
  // Near the end the inputs are the original ones again: the last output is compared in full.
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
  // What overlooks a change is wrong right after it, and perhaps not for long.
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
 * Adds to `changes` of whole inputs the same before the next sample, where none is and it is before
 * `end`. Returns these samples: they take as long as those with new values, if a kernel computes all.
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
 * A change at each of `places`, of one set: of whole inputs, as a kernel may repair a few elements of
 * a result that it remembers, and of a few elements, as it may look at others. Each input changes
 * alone at least once in both ways, where there are as many places: it may look at one and trust the
 * others.
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

/** What makes the inputs of `set` the original ones after `changes`. */
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

/** `count` different numbers below `n`, ascending; all where there are fewer. */
function distinct(count: number, n: number, below: Below): number[] {
  const chosen = new Set<number>();
  while (chosen.size < Math.min(count, n)) chosen.add(below(n));
  return [...chosen].toSorted((a, b) => a - b);
}
