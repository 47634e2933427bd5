/**
 * Groups of tuned cases, one for each dispatch table.
 *
 * @module
 */

import { aligned } from "../../../bench/files/terminal_text.ts";
import { formatValues } from "../../../bench/model/grid.ts";
import type { Suite } from "../../../bench/model/suite.ts";
import { axesOf, type CaseKey, caseText } from "../../../bench/row/row.ts";
import type { DispatchPoint } from "../../../bench/tune/dispatch.ts";
import type {
  DispatchTable,
  HeaderOrigin,
} from "../../../bench/tune/dispatch_header.ts";
import { formatMicroseconds } from "../../../report/table/metrics.ts";
import type { TunedCase } from "./session.ts";

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
function valuesOf(axes: Suite["axes"], key: CaseKey): Record<string, string> {
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
    key: caseText(row.key),
    at,
    kernel: one.kernel,
    config: tuned.config,
    us: tuned.us,
    legal: new Set(space.legal.map(({ config }) => formatValues(config))),
  }];
}

/** A few lines for each of `tables`: a range a line. */
export function dispatchLines(
  tables: readonly DispatchTable[],
): readonly string[] {
  return tables.flatMap((table, i) => {
    const { axis, ranges } = table;
    const lines = ranges.map((range) => {
      const { from, to, opt, option, points, loss, worst } = range;
      const last = points.find(({ at }) => at === opt) ?? points.at(-1)!;
      return [
        from === to ? `${axis} = ${to}` : `${axis} = ${from} to ${to}`,
        `${option.kernel} ${option.config}`.trimEnd(),
        `${formatMicroseconds(last.us)} µs at ${last.at}`,
        `loses ${percent(loss)}${worst > 0 ? worstOf(table, points) : ""}`,
      ];
    });
    return [
      ...(i > 0 ? [""] : []),
      titleOf(table),
      ...aligned(lines).map((line) => `  ${line}`),
      ...ranges.flatMap(({ opt, points }) =>
        opt === undefined ? [] : [
          `  chosen at ${axis} = ${opt}: loses ${
            points.map((point) => `${percent(lossOf(point))} at ${point.at}`)
              .join(", ")
          }`,
        ]
      ),
    ];
  });
}

/** A table's operation and the values of its axes, those that equal its own left out. */
export function titleOf(
  { op, axes }: Pick<DispatchTable, "op" | "axes">,
): string {
  const fixed = Object.entries(axes).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const]
  );
  return [op, formatValues(Object.fromEntries(fixed))].join(" ").trimEnd();
}

/** The greatest loss, to which option and where. */
function worstOf(
  { axis }: DispatchTable,
  points: readonly DispatchPoint[],
): string {
  const worst = points.reduce((a, b) => lossOf(b) > lossOf(a) ? b : a);
  const { kernel, config } = worst.best;
  return `, at worst ${percent(lossOf(worst))} at ${axis} = ${worst.at}, to ${
    `${kernel} ${config}`.trimEnd()
  }`;
}

function lossOf({ us, best_us }: DispatchPoint): number {
  return us / best_us - 1;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** The tables and where they are from, as a file. */
export function dispatchJson(
  tables: readonly DispatchTable[],
  origin: HeaderOrigin,
): string {
  const file = {
    format: "mnkbench dispatch table",
    version: 2,
    ...origin,
    tables,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
