/**
 * Groups of tuned cases, one for each dispatch table.
 *
 * @module
 */

import { formatValues } from "../../../bench/model/grid.ts";
import type { Suite } from "../../../bench/model/suite.ts";
import { axesOf } from "../../../bench/row/axes.ts";
import { type Key, keyText } from "../../../bench/row/row.ts";
import type { DispatchTable } from "../../../bench/tune/dispatch_header.ts";
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

/** Cases that differ in kernel and on one axis only. */
export interface Group extends Pick<DispatchTable, "op" | "axes"> {
  readonly cases: readonly GroupCase[];
}

/**
 * The groups of what was tuned along `axis`. An axis whose value equals that of `axis` at
 * every point of a suite, as where N follows M, does not tell groups apart.
 */
export function groupsOf(
  tuned: readonly TunedCase[],
  { axis, suites }: { axis: string; suites: readonly Suite[] },
): readonly Group[] {
  const own = Map.groupBy(tuned, ({ one }) => one.suite);
  return [...own].flatMap(([name, list]) => {
    const { axes } = suites.find((suite) => suite.name === name)!;
    const all = list.map((one) => ({
      one,
      values: valuesOf(axes, one.row.key),
    }));
    const tied = axes.map(({ name }) => name).filter((other) =>
      other !== axis &&
      all.every(({ values }) => values[other] === values[axis])
    );
    const fixed = ({ [axis]: _, ...values }: Record<string, string>) => ({
      ...values,
      ...Object.fromEntries(tied.map((other) => [other, null])),
    });
    const groups = Map.groupBy(
      all,
      ({ values }) => JSON.stringify(fixed(values)),
    );
    return [...groups.values()].map((members): Group => ({
      op: members[0]!.one.row.key.op,
      axes: fixed(members[0]!.values),
      cases: members.flatMap(({ one, values }) =>
        groupCase(one, Number(values[axis]))
      ),
    }));
  });
}

/** The value of each of `axes` at the point of `key`, where it has one. */
function valuesOf(axes: Suite["axes"], key: Key): Record<string, string> {
  const own = axesOf(key);
  return Object.fromEntries(
    axes.flatMap(({ name, column = name }) =>
      own[column] === undefined ? [] : [[name, own[column]]]
    ),
  );
}

function groupCase(
  { one, row, tuned, space }: TunedCase,
  at: number,
): GroupCase[] {
  if (row.status !== "checked" || tuned?.us === undefined) return [];
  return [{
    key: keyText(row.key),
    at,
    kernel: one.kernel,
    config: tuned.config,
    us: tuned.us,
    legal: new Set(space.legal.map(({ config }) => formatValues(config))),
  }];
}
