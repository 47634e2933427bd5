/**
 * Dispatch tables for people and for programs.
 *
 * @module
 */

import type { DispatchPoint } from "../../../bench/tune/dispatch.ts";
import type {
  DispatchTable,
  HeaderOrigin,
} from "../../../bench/tune/dispatch_header.ts";
import { formatValues } from "../../../bench/model/grid.ts";
import { formatMicroseconds } from "../../../report/table/table.ts";

/** A few lines for each of `tables`: a range a line. */
export function dispatchLines(
  tables: readonly DispatchTable[],
): readonly string[] {
  return tables.flatMap((table, i) => {
    const { axis, ranges } = table;
    const lines = ranges.map(({ from, to, option, points, loss, worst }) => {
      const last = points.at(-1)!;
      return [
        from === to ? `${axis} = ${to}` : `${axis} = ${from} to ${to}`,
        `${option.kernel} ${option.config}`.trimEnd(),
        `${formatMicroseconds(last.us)} us at ${last.at}`,
        `loses ${percent(loss)}${worst > 0 ? worstOf(table, points) : ""}`,
      ];
    });
    const widths = [0, 1, 2].map((c) =>
      Math.max(...lines.map((line) => line[c]!.length))
    );
    return [
      ...(i > 0 ? [""] : []),
      titleOf(table),
      ...lines.map((line) =>
        `  ${line.map((text, c) => text.padEnd(widths[c] ?? 0)).join("  ")}`
          .trimEnd()
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
  const lossOf = ({ us, best_us }: DispatchPoint) => us / best_us - 1;
  const worst = points.reduce((a, b) => lossOf(b) > lossOf(a) ? b : a);
  const { kernel, config } = worst.best;
  return `, at worst ${percent(lossOf(worst))} at ${axis} = ${worst.at}, to ${
    `${kernel} ${config}`.trimEnd()
  }`;
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
