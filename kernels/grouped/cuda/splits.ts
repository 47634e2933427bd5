/**
 * Cuts the tokens of each problem into parts such that tiles of all problems together fill all
 * bins.
 *
 * A bin holds one or two tiles of list A: of parts of 128 tokens, and of pairs that have as
 * many together, bins are full, of parts of 88 they are not. Tiles that differ in nothing but
 * their weights are counted, not listed: thousands of ways are tried in milliseconds.
 *
 * @module
 */

import type { Sizes } from "../point.ts";
import { evenParts } from "./schedule.ts";

/** The sizes that a tile may have. */
interface TileSizes {
  /** Tokens at most, at least, and in steps of. */
  readonly MAXN: number;
  readonly LEAST: number;
  readonly STEP: number;
}

/** The problems to cut, and the bins to fill. */
export interface Load {
  readonly problems: readonly Sizes[];
  /** Rows of weights of a tile. */
  readonly rows: number;
  readonly sizes: TileSizes;
  readonly bins: number;
  clocksOf(cols: number, k: number): number;
}

/** A way to cut, and how many rows of tiles of a problem are cut so. */
interface Share {
  readonly parts: readonly number[];
  readonly count: number;
}
type Shares = readonly (readonly Share[])[];

/** Of more problems bins are full as they are. */
const MOST_PROBLEMS = 24;
/** Parts more than there must be. */
const MORE_PARTS = 3;
/** Halvings of the interval in which the fullest bin's load is. */
const ROUNDS = 8;
/** Passes over all problems at most. */
const PASSES = 6;

/** Tokens of each tile of a problem, for each of its rows of tiles. */
export function balancedParts(
  load: Load,
): (problem: number, rowOfTiles: number) => readonly number[] {
  const shares = balance(load);
  return (problem, rowOfTiles) => {
    let left = rowOfTiles;
    for (const { parts, count } of shares[problem]!) {
      if (left < count) return parts;
      left -= count;
    }
    throw new RangeError(`row ${rowOfTiles} of tiles of problem ${problem}`);
  };
}

function balance(load: Load): Shares {
  const ways = load.problems.map(({ m }) => splitCandidates(m, load.sizes));
  let best: Shares = load.problems.map(({ n }, i) => [
    { parts: ways[i]![0]!, count: Math.ceil(n / load.rows) },
  ]);
  if (load.problems.length > MOST_PROBLEMS) return best;
  const classes = classesOf(load, best);
  const total = classes.reduce((sum, { cost, count }) => sum + cost * count, 0);
  let low = total / load.bins;
  let high = low + 2 * classes[0]!.cost;
  for (let round = 0; round < ROUNDS; round++) {
    const capacity = (low + high) / 2;
    const found = search(load, { ways, from: best, capacity });
    if (found === undefined) low = capacity;
    else [high, best] = [capacity, found];
  }
  return best;
}

/** Ways to cut `m` tokens, the first one into as few equal parts as there can be. */
export function splitCandidates(m: number, sizes: TileSizes): number[][] {
  const { MAXN, LEAST, STEP } = sizes;
  const size = (x: number) => Math.max(LEAST, Math.ceil(x / STEP) * STEP);
  const even = evenParts(m, sizes).map(size);
  const ways = new Map([[even.join(), even]]);
  for (let count = even.length; count <= even.length + MORE_PARTS; count++) {
    for (let most = size(m / count); most <= MAXN; most += STEP) {
      // All but one part of the same size, and the last one smaller, or all but one larger.
      const rest = m - (count - 1) * most;
      if (rest >= LEAST || (count === 1 && rest > 0)) {
        const way = [...Array<number>(count - 1).fill(most), size(rest)];
        if (way.at(-1)! <= MAXN) ways.set(way.join(), way);
      }
      if (count > 2 && m - most > 0) {
        const others = evenParts(m - most, { ...sizes, MAXN: most }).map(size);
        ways.set([most, ...others].join(), [most, ...others]);
      }
    }
  }
  return [...ways.values()];
}

/**
 * Shares at which all tiles fit into bins of `capacity`, and of these some of few tiles, which
 * move less: found by changing one share at a time.
 */
function search(
  load: Load,
  { ways, from, capacity }: {
    ways: readonly number[][][];
    from: Shares;
    capacity: number;
  },
): Shares | undefined {
  let now = from;
  let least = score(load, now, capacity);
  for (let pass = 0; pass < PASSES; pass++) {
    const before = least;
    for (const [i, { n }] of load.problems.entries()) {
      const all = Math.ceil(n / load.rows);
      for (const parts of ways[i]!) {
        for (const count of new Set([all, all >> 1, all >> 2])) {
          if (count === 0) continue;
          const next = now.with(i, mixed(now[i]!, { parts, count }));
          const found = score(load, next, capacity);
          if (found < least) [now, least] = [next, found];
        }
      }
    }
    if (least === before) break;
  }
  return least < 1 ? now : undefined;
}

/** `shares` with `share` in the place of as many of the first ones. */
function mixed(shares: readonly Share[], share: Share): Share[] {
  const kept: Share[] = [];
  let gone = share.count;
  for (const { parts, count } of shares) {
    if (count > gone) kept.push({ parts, count: count - gone });
    gone = Math.max(0, gone - count);
  }
  return [...kept, share];
}

/** Counts the tiles of each cost, heaviest first. */
function classesOf({ problems, clocksOf }: Load, shares: Shares) {
  const counts = new Map<number, number>();
  shares.forEach((of, i) => {
    for (const { parts, count } of of) {
      for (const cols of parts) {
        const cost = clocksOf(cols, problems[i]!.k);
        counts.set(cost, (counts.get(cost) ?? 0) + count);
      }
    }
  });
  return [...counts].map(([cost, count]) => ({ cost, count }))
    .sort((a, b) => b.cost - a.cost);
}

/** A tile is nothing beside a clock. */
const TILE = 1e-6;

/**
 * The cost of the tiles for which first fit, heaviest first, finds no room, and less than 1 for
 * how many there are.
 */
function score(load: Load, shares: Shares, capacity: number): number {
  let bins = [{ room: capacity, count: load.bins }];
  let over = 0;
  for (const { cost, count } of classesOf(load, shares)) {
    let left = count;
    const next: typeof bins = [];
    for (const bin of bins) {
      const each = Math.floor(bin.room / cost);
      const full = each === 0
        ? 0
        : Math.min(bin.count, Math.floor(left / each));
      if (full > 0) next.push({ room: bin.room - each * cost, count: full });
      left -= full * each;
      let rest = bin.count - full;
      if (rest > 0 && each > 0 && left > 0) {
        next.push({ room: bin.room - left * cost, count: 1 });
        left = 0;
        rest--;
      }
      if (rest > 0) next.push({ room: bin.room, count: rest });
    }
    bins = next;
    over += left * cost + count * TILE;
  }
  return over;
}
