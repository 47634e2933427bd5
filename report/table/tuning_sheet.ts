/**
 * Makes tables of what a search of a library's algorithms gains over its heuristic, by class of
 * shapes, as the autotuning study has them.
 *
 * @module
 */

import { geomean } from "../../bench/measure/stats.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { type Point, SIZES } from "../model/axes.ts";
import { isNoisyRow } from "../model/noise.ts";
import type { Contender, Pivot, PivotShape } from "../model/pivot.ts";
import { soundTimeOf } from "../model/sol.ts";
import { formatMicroseconds } from "./metrics.ts";
import { noiseNotesOf } from "./notes.ts";
import type { Cell, Sheet } from "./sheet.ts";
import { titleOf } from "./table.ts";

/** Rows from which M is large: a tile of 128 is full. */
const LARGE_M = 128;
/** Of K over N, from which the output is narrow: the projections of grouped K and V. */
const NARROW = 4;

/** The classes, in the order of the study. */
const CLASSES = [
  ...["N power of 2, large M", "N power of 2, small M"],
  ...["other N, large M", "other N, small M"],
  ...["K >= 4 N (GQA)", "M no power of 2 (MoE)"],
];

/** A shape at which both the heuristic and the search have a time. */
interface Gain {
  readonly shape: PivotShape;
  /** Microseconds. */
  readonly first: number;
  readonly tuned: number;
  /** Of the fastest of our kernels; undefined where none has a time. */
  readonly own: number | undefined;
  readonly noisy: boolean;
}

/** Returns one table for each library of `table` that has a kernel of the same name and `-tuned`. */
export function tuningSheets(table: Pivot): Sheet[] {
  return table.contenders.flatMap((first) => {
    const tuned = table.contenders.find(({ kernel, device, run }) =>
      kernel === `${first.kernel}-tuned` && device === first.device &&
      run === first.run
    );
    const gains = tuned === undefined ? [] : gainsOf(table, first, tuned);
    return gains.length > 0 ? [sheetOf(table, first, gains)] : [];
  });
}

function gainsOf(table: Pivot, first: Contender, tuned: Contender): Gain[] {
  const own = table.contenders.filter(({ peer, published }) =>
    !peer && !published
  );
  return table.shapes.flatMap((shape) => {
    const rowOf = ({ name }: Contender) => shape.rows.get(name);
    const [before, after] = [rowOf(first), rowOf(tuned)];
    const [slow, fast] = [soundTimeOf(before), soundTimeOf(after)];
    if (slow === undefined || fast === undefined) return [];
    const rows = own.flatMap((one) => rowOf(one) ?? [])
      .filter((row) => soundTimeOf(row) !== undefined)
      .toSorted((a, b) => soundTimeOf(a)! - soundTimeOf(b)!);
    return [{
      shape,
      first: slow,
      tuned: fast,
      own: soundTimeOf(rows[0]),
      noisy: [before, after, rows[0]].some((row?: CsvRow) =>
        row !== undefined && isNoisyRow(row)
      ),
    }];
  });
}

function sheetOf(
  table: Pivot,
  { kernel }: Contender,
  gains: readonly Gain[],
): Sheet {
  const others = table.axes.filter((axis) =>
    !SIZES.some((size) => size === axis)
  );
  const groups = Map.groupBy(gains, ({ shape: { point } }) => {
    const values = new Set(others.flatMap((axis) => point[axis] ?? []));
    return [...values].join(" ");
  });
  const lines = [...groups].flatMap(([values, group]) => {
    const classes = Map.groupBy(group, ({ shape }) => classOf(shape.point));
    return CLASSES.flatMap((name) => {
      const own = classes.get(name);
      return own ? [lineOf([values, name].join(" ").trim(), own)] : [];
    });
  });
  const unmeasured = gains.filter(({ own }) => own === undefined).length;
  const missing = table.shapes.length - gains.length;
  const of = `of ${table.shapes.length} shapes`;
  return {
    title: `${titleOf(table)}: ${kernel}'s heuristic and its search`,
    head: [
      ...["class", "shapes", "heuristic us", "tuned us", "gain", "most"],
      ...["ours us", "tuned / ours"],
    ],
    body: lines,
    foot: [lineOf("all", gains)],
    notes: [
      `geomeans; gain: of speed, by the search; large M: ${LARGE_M} and more; ours: the fastest at each shape`,
      ...(gains.some(({ noisy }) => noisy) ? noiseNotesOf(table) : []),
      ...(missing > 0
        ? [`${missing} ${of} are not measured both ways, and not counted`]
        : []),
      ...(unmeasured > 0
        ? [`ours: ${unmeasured} ${of} are not measured, and not counted`]
        : []),
    ],
  };
}

function lineOf(name: string, gains: readonly Gain[]): Cell[] {
  const own = gains.flatMap(({ tuned, own }) =>
    own === undefined ? [] : [{ own, factor: tuned / own }]
  );
  const ratios = gains.map(({ first, tuned }) => first / tuned);
  const mark = gains.some(({ noisy }) => noisy) ? "~" : "";
  const time = (values: readonly number[]) =>
    values.length > 0 ? formatMicroseconds(geomean(values)!) : "-";
  const percent = (ratio: number) =>
    `${mark}${(100 * (ratio - 1)).toFixed(1)} %`;
  return [
    name,
    `${gains.length}`,
    time(gains.map(({ first }) => first)),
    time(gains.map(({ tuned }) => tuned)),
    percent(geomean(ratios)!),
    percent(Math.max(...ratios)),
    time(own.map(({ own }) => own)),
    own.length > 0
      ? `${mark}${geomean(own.map(({ factor }) => factor))!.toFixed(3)}`
      : "-",
  ].map((text) => ({ text }));
}

/** Returns the class of a shape; one without numbers for sizes is of other N and small M. */
function classOf(point: Point): string {
  const [m, n, k] = SIZES.map((size) => Number(point[size]));
  const isPower = (size: number) => Number.isInteger(Math.log2(size));
  if (!isPower(m!)) return "M no power of 2 (MoE)";
  if (k! >= NARROW * n!) return "K >= 4 N (GQA)";
  const width = isPower(n!) ? "N power of 2" : "other N";
  return `${width}, ${m! >= LARGE_M ? "large" : "small"} M`;
}
