/**
 * Makes tables of how near kernels are to the speed of light (SOL).
 *
 * @module
 */

import { geomean, mean } from "../../bench/measure/stats.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import type { Pivot, PivotShape } from "../model/pivot.ts";
import { soundTimeOf } from "../model/sol.ts";
import type { Cell, Sheet } from "./sheet.ts";
import { titleOf } from "./table.ts";

/** The figures that a table may have instead of times. */
export const METRICS = ["sol", "score"] as const;

/** One of {@linkcode METRICS}. */
export type Metric = typeof METRICS[number];

/**
 * Returns `table` with the share of SOL that each kernel reaches, T_sol / T, or with its SOL
 * score, 1 / (1 + (T - T_sol) / (T_b - T_sol)): 1 is SOL, 0.5 is as fast as T_b, the fastest of
 * `against`, or, without any, of the baseline and the kernels of PyTorch.
 *
 * Source of the score: NVIDIA, SOL-ExecBench.
 */
export function metricSheet(
  table: Pivot,
  metric: Metric,
  against: readonly string[],
): Sheet {
  const { contenders, shapes } = table;
  const peers = against.length > 0 ? against : peersOf(table);
  const values = shapes.map((shape) =>
    contenders.map(({ name }) => valueOf(shape, { name, metric, peers }))
  );
  const columns = contenders.map((_, c) =>
    values.map((line) => line[c]).filter((value) => value !== undefined)
  );
  const sol = metric === "sol";
  return {
    title: titleOf(table),
    head: [
      sol ? "share of SOL" : "SOL score",
      ...contenders.map(({ name }) => name),
    ],
    body: shapes.map(({ label, best }, i) => [
      { text: label },
      ...contenders.map(({ name }, c): Cell => ({
        text: textOf(values[i]![c], metric),
        paint: name === best ? "best" : "plain",
      })),
    ]),
    foot: [[
      { text: sol ? "geomean" : "mean" },
      ...columns.map((own): Cell => ({
        text: textOf(
          own.length === 0 ? undefined : sol ? geomean(own) : mean(own),
          metric,
        ),
      })),
    ]],
    notes: sol ? [] : [
      peers.length > 0
        ? `0.5 is as fast as the fastest of ${peers.join(", ")}`
        : "these rows have no baseline and no kernel of PyTorch: name one with --against",
    ],
  };
}

function textOf(value: number | undefined, metric: Metric): string {
  if (value === undefined) return "";
  return metric === "sol" ? `${(100 * value).toFixed(1)} %` : value.toFixed(3);
}

/** Returns the baseline and the kernels that PyTorch ran. */
function peersOf({ contenders, shapes, baseline }: Pivot): string[] {
  const isPeer = (name: string) =>
    name === baseline ||
    shapes.some(({ rows }) => rows.get(name)?.library.startsWith("torch "));
  return contenders.map(({ name }) => name).filter(isPeer);
}

function valueOf(
  { rows }: PivotShape,
  { name, metric, peers }: {
    readonly name: string;
    readonly metric: Metric;
    readonly peers: readonly string[];
  },
): number | undefined {
  const row = rows.get(name);
  const [time, sol] = [soundTimeOf(row), solOf(row)];
  if (time === undefined || sol === undefined) return undefined;
  if (metric === "sol") return sol / time;
  const times = peers.map((peer) => soundTimeOf(rows.get(peer)))
    .filter((time) => time !== undefined);
  const headroom = Math.min(...times) - sol;
  // A peer at SOL leaves nothing to score.
  if (times.length === 0 || headroom <= 0) return undefined;
  return 1 / (1 + Math.max(0, time - sol) / headroom);
}

function solOf(row: CsvRow | undefined): number | undefined {
  return row === undefined || row.sol_us === ""
    ? undefined
    : Number(row.sol_us);
}
