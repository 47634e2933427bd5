/**
 * Dispatch tables for people and for programs.
 *
 * @module
 */

import type { DispatchTable, HeaderOrigin } from "../bench/dispatch_header.ts";
import { formatValues } from "../bench/grid.ts";
import { formatMicroseconds } from "../report/table.ts";

/** A few lines for each of `tables`: a range a line. */
export function dispatchLines(
  tables: readonly DispatchTable[],
): readonly string[] {
  return tables.flatMap((table, i) => {
    const { problem, axis, sizes, ranges } = table;
    const { op, a_type, layout, params } = problem;
    const title = [op, a_type, layout, params, formatValues(sizes)]
      .filter((part) => part !== "").join(" ");
    const lines = ranges.map(({ from, to, option, points, loss, worst }) => {
      const last = points.at(-1)!;
      return [
        from === to ? `${axis} = ${to}` : `${axis} = ${from} to ${to}`,
        `${option.kernel} ${option.config}`.trimEnd(),
        `${formatMicroseconds(last.us)} us at ${last.at}`,
        `loses ${percent(loss)}, at worst ${percent(worst)}`,
      ];
    });
    const widths = [0, 1, 2].map((c) =>
      Math.max(...lines.map((line) => line[c]!.length))
    );
    return [
      ...(i > 0 ? [""] : []),
      title,
      ...lines.map((line) =>
        `  ${line.map((text, c) => text.padEnd(widths[c] ?? 0)).join("  ")}`
          .trimEnd()
      ),
    ];
  });
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
    version: 1,
    ...origin,
    tables,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
