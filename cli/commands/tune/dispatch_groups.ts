/**
 * Tuned cases by what a dispatch table is about: all but one size.
 *
 * @module
 */

import type { DispatchTable } from "../../../bench/tune/dispatch_header.ts";
import { formatValues } from "../../../bench/model/grid.ts";
import { type Key, keyOf, keyText } from "../../../bench/row/row.ts";
import type { Case } from "../../../bench/model/suite.ts";
import type { TunedCase } from "../../../session/tune_case.ts";

/** A case of a group. */
export interface GroupCase {
  /** Its key as text. */
  readonly key: string;
  readonly at: number;
  readonly kernel: string;
  readonly config: string;
  readonly us: number;
  /** The configs that are legal at its point. */
  readonly legal: ReadonlySet<string>;
}

/** Cases that differ in kernel and in one size only. */
export interface Group extends Pick<DispatchTable, "problem" | "sizes"> {
  readonly cases: readonly GroupCase[];
}

const PROBLEM = [
  "op",
  "a_type",
  "b_type",
  "c_type",
  "acc_type",
  "layout",
  "params",
] as const;
const SIZES = ["m", "n", "k"] as const;

/**
 * The groups of what was tuned along `axis`. A size that equals the axis wherever it is, as
 * in suites where N follows M, is not one of a group's own.
 */
export function groupsOf(
  tuned: readonly TunedCase[],
  axis: string,
): readonly Group[] {
  const along = axis as typeof SIZES[number];
  const suites = Map.groupBy(tuned, ({ one }) => one.suite);
  return [...suites.values()].flatMap((own) => {
    const follows = (size: typeof SIZES[number]) =>
      own.every(({ row: { key } }) => key[size] === key[along]);
    const fixed = SIZES.filter((size) => size !== along && !follows(size));
    const groups = Map.groupBy(
      own,
      ({ row: { key } }) =>
        JSON.stringify([...PROBLEM, ...fixed].map((column) => key[column])),
    );
    return [...groups.values()].map((list) => {
      const { key } = list[0]!.row;
      return {
        problem: Object.fromEntries(
          PROBLEM.map((column) => [column, key[column]]),
        ) as DispatchTable["problem"],
        sizes: Object.fromEntries(
          fixed.map((size) => [size, Number(key[size])]),
        ),
        cases: list.flatMap((one) => groupCase(one, along)),
      };
    });
  });
}

function groupCase(
  { one, row, tuned, space }: TunedCase,
  axis: keyof Key,
): GroupCase[] {
  if (row.status !== "checked" || tuned?.us === undefined) return [];
  return [{
    key: keyText(row.key),
    at: Number(row.key[axis]),
    kernel: one.kernel,
    config: tuned.config,
    us: tuned.us,
    legal: new Set(space.legal.map(({ config }) => formatValues(config))),
  }];
}

/** Those of `cases` whose keys, as text, are in `keys`. */
export function casesOfGroup(
  cases: readonly Case[],
  keys: ReadonlySet<string>,
): readonly Case[] {
  return cases.filter((c) => keys.has(keyText(keyOf(c))));
}
