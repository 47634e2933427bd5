/**
 * Finds the configs that won at recorded shapes, for searches at these and other shapes on a device
 * of the same architecture.
 *
 * @module
 */

import { formatValues, parseValues, type Values } from "../model/grid.ts";
import type { Candidate } from "../model/kernel.ts";
import { startsEarly } from "../model/settings.ts";
import type { CaseKey } from "../row/row.ts";

/** The columns of a row that hints are made of. */
export const HINT_COLUMNS = [
  ...["suite", "op", "kernel", "backend", "a_type", "b_type", "c_type"],
  ...["acc_type", "layout", "m", "n", "k", "params", "timer", "cache"],
  ...["arch", "config", "status", "median_us", "source_hash"],
] as const;

/** The cells of a row by column. */
export type HintRow = Readonly<Record<typeof HINT_COLUMNS[number], string>>;

/** The recorded configs of a kernel, as far as they are legal for a case. */
export interface Hint {
  /**
   * Those of the nearest shapes, nearest first; where too few of these are legal, the legal ones that
   * differ least from them.
   */
  readonly near: readonly Candidate[];
  /** The others, in the order of the legal ones. */
  readonly others: readonly Candidate[];
  /** Whether the kernel was far behind the fastest one where the first of `near` was recorded. */
  readonly behind: boolean;
}

/** Configs of the nearest recorded shapes that come first. */
const NEAREST = 3;
/** A kernel this many times slower than the fastest one at a recorded shape is far behind. */
const BEHIND = 1.05;

interface Winner {
  readonly row: HintRow;
  readonly behind: boolean;
  readonly values: Values;
  /** Base-2 logarithms of m, n and k. */
  readonly sizes: readonly number[];
  readonly params: ReadonlyMap<string, string>;
}

/** The configs that won at recorded shapes. */
export class Hints {
  readonly #kernels: ReadonlyMap<string, readonly Winner[]>;

  /**
   * @param rows Rows of one architecture. Only those of tunable kernels with sources count.
   * @param early Whether calls start before their predecessor ends, where other configs win.
   */
  constructor(rows: readonly HintRow[], early = false) {
    const points = Map.groupBy(
      rows.filter(({ status, config, source_hash }) =>
        status === "ok" && config !== "" && source_hash !== ""
      ),
      pointOf,
    );
    const tuned = [...points.values()].flatMap(early ? earlyOf : loneOf);
    const best = new Map<string, number>();
    for (const row of tuned) {
      const group = groupOf(row);
      const known = best.get(group) ?? Infinity;
      best.set(group, Math.min(known, Number(row.median_us)));
    }
    this.#kernels = Map.groupBy(
      tuned.map((row) => ({
        row,
        behind: Number(row.median_us) > BEHIND * best.get(groupOf(row))!,
        values: parseValues(row.config),
        ...placeOf(row),
      })),
      ({ row }) => kernelOf(row),
    );
  }

  /**
   * The recorded configs among `legal`, those of the case of `key`; nothing where its kernel has
   * none that is legal here.
   */
  of(key: CaseKey, legal: readonly Candidate[]): Hint | undefined {
    const winners = this.#kernels.get(kernelOf(key));
    if (winners === undefined) return undefined;
    const place = placeOf(key);
    const recorded = new Map<string, { far: number; winner: Winner }>();
    for (const winner of winners) {
      const { row: { config } } = winner;
      const far = distance(key, place, winner);
      const known = recorded.get(config);
      if (!known || far < known.far) recorded.set(config, { far, winner });
    }
    const nearest = [...recorded.values()].sort((a, b) => a.far - b.far);
    const byName = new Map(
      legal.map((one) => [formatValues(one.config), one] as const),
    );
    const exact = nearest.flatMap(({ winner }) => {
      const candidate = byName.get(winner.row.config);
      return candidate ? [{ candidate, winner }] : [];
    });
    const near = exact.slice(0, NEAREST);
    for (const { winner } of nearest) {
      if (near.length === NEAREST) break;
      const candidate = mostLike(winner.values, legal);
      if (candidate && !near.some((one) => one.candidate === candidate)) {
        near.push({ candidate, winner });
      }
    }
    if (near.length === 0) return undefined;
    const first = new Set(near.map(({ candidate }) => candidate));
    const known = new Set(exact.map(({ candidate }) => candidate));
    return {
      near: [...first],
      others: legal.filter((one) => known.has(one) && !first.has(one)),
      behind: near[0]!.winner.behind,
    };
  }
}

/** Values that may differ, and less than half of them: the number of slices depends on the shape. */
const MOST_OTHER = 2;

/**
 * Returns the first of the candidates that differ least from `values`; nothing where all differ in more, or
 * in a value that is a name, such as that of a loader.
 */
export function mostLike(
  values: Values,
  legal: readonly Candidate[],
): Candidate | undefined {
  let least = MOST_OTHER + 1;
  let found: Candidate | undefined;
  for (const candidate of legal) {
    const names = Object.keys({ ...values, ...candidate.config });
    const other = names.filter((name) =>
      values[name] !== candidate.config[name]
    ).length;
    const same = names.every((name) =>
      typeof values[name] !== "string" ||
      values[name] === candidate.config[name]
    );
    if (same && other < least && 2 * other < names.length) {
      [least, found] = [other, candidate];
    }
  }
  return found;
}

type Place = Pick<Winner, "sizes" | "params">;

/** Shapes that differ by a factor of two in one size are 1 apart; other properties count so much. */
const APART = { type: 1, layout: 2, param: 1 };

function distance(key: CaseKey, { sizes, params }: Place, to: Winner): number {
  let sum = 0;
  sizes.forEach((size, i) => sum += Math.abs(size - to.sizes[i]!));
  for (const type of ["a_type", "b_type"] as const) {
    if (key[type] !== to.row[type]) sum += APART.type;
  }
  if (key.layout !== to.row.layout) sum += APART.layout;
  for (const name of new Set([...params.keys(), ...to.params.keys()])) {
    if (params.get(name) !== to.params.get(name)) sum += APART.param;
  }
  return sum;
}

function placeOf(
  { m, n, k, params }: Pick<CaseKey, "m" | "n" | "k" | "params">,
): Place {
  return {
    sizes: [m, n, k].map((size) => Math.log2(Number(size) || 1)),
    params: new Map(
      params.split(" ").filter((one) => one !== "" && !isEpilogue(one))
        .map((one) => {
          const [name = "", ...value] = one.split("=");
          return [name, value.join("=")] as const;
        }),
    ),
  };
}

/** An epilogue does not change which config is fastest. */
function isEpilogue(param: string): boolean {
  return param.startsWith("epilogue=");
}

function kernelOf(
  { op, kernel, backend }: Pick<CaseKey, "op" | "kernel" | "backend">,
): string {
  return [op, kernel, backend].join(" ");
}

/** A point of a suite and how it was timed: only such times can be compared. */
function groupOf(row: HintRow): string {
  return [pointOf(row), row.timer, row.cache].join("\0");
}

/**
 * Drops rows of chains and batches, whose calls take less time, of kernels that have rows of lone calls.
 *
 * @param rows Rows of one point.
 */
export function loneOf(rows: readonly HintRow[]): readonly HintRow[] {
  const isLone = ({ timer }: HintRow) => !timer.includes(":");
  const kernels = new Set(rows.filter(isLone).map(({ kernel }) => kernel));
  return rows.filter((row) => isLone(row) || !kernels.has(row.kernel));
}

/**
 * Of kernels that have rows of chains whose calls start early those alone, of others what `loneOf()`
 * leaves.
 *
 * @param rows Rows of one point.
 */
function earlyOf(rows: readonly HintRow[]): readonly HintRow[] {
  const early = rows.filter(({ timer }) => startsEarly(timer));
  const kernels = new Set(early.map(({ kernel }) => kernel));
  const others = rows.filter(({ kernel }) => !kernels.has(kernel));
  return [...early, ...loneOf(others)];
}

/** A point of a suite, whichever kernel, timer or device it is of. */
export function pointOf(
  { suite, a_type, b_type, layout, m, n, k, params }: HintRow,
): string {
  return [suite, a_type, b_type, layout, m, n, k, params].join("\0");
}
