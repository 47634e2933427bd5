/**
 * Makes tables to read: points down, kernels across, times in microseconds, and how much
 * faster than the baseline they are; and tables of wins.
 *
 * @module
 */

import { geomean } from "../../bench/measure/stats.ts";
import { recordOf } from "../../bench/row/csv.ts";
import type { CsvRow, KeptRow } from "../../bench/row/csv_row.ts";
import type { Row } from "../../bench/row/row.ts";
import { isNoisyRow, noiseNotes } from "../model/noise.ts";
import {
  type Contender,
  type Pivot,
  pivots,
  type PivotShape,
  speedup,
} from "../model/pivot.ts";
import {
  isAboveSol,
  soundTimeOf,
  SUSPECT_LEGEND,
  SUSPECT_MARK,
  timeOf,
} from "../model/sol.ts";
import { allWins } from "../model/wins.ts";
import {
  formatNotes,
  notedRows,
  nowhereNotes,
  partialMeans,
  runNotes,
} from "./notes.ts";
import {
  type Cell,
  formatText,
  type GridOptions,
  type Sheet,
} from "./sheet.ts";

/** Columns that must be equal for times to be comparable. */
const CONDITIONS = ["timer", "cache", "flush", "fill"] as const;
/** The options of {@linkcode formatTable}. */
export interface TableOptions extends GridOptions {
  /** Kernels that speed-ups are relative to, the preferred first, by suite. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
}

/** Returns the lines of a table for each suite and device of rows that were just measured. */
export function formatTable(
  rows: readonly Row[],
  { baselines, ...screen }: TableOptions,
): string[] {
  const kept = rows.filter((row): row is KeptRow => row.status !== "checked");
  const tables = pivots(kept.map(recordOf), {
    baselines: (suite) => baselines[suite] ?? [],
  });
  return tables.flatMap((table, i) => [
    ...(i > 0 ? [""] : []),
    ...formatText(pivotSheet(table), screen),
  ]);
}

/** The kernels of a {@linkcode pivotSheet}. */
export interface Shown {
  /** Shows only so many kernels, those that are ranked first. @default {all} */
  readonly top?: number | undefined;
  /** Keeps kernels that are too many for the screen. @default {false} */
  readonly all?: boolean;
}

/**
 * Returns `table` with a line for each point and a column for each kernel that ran: the baseline,
 * then peers, our own and published ones, of each the fastest first.
 */
export function pivotSheet(
  table: Pivot,
  { top, all = false }: Shown = {},
): Sheet {
  const { shapes, baseline } = table;
  const groups = ranked(table);
  const order = inTurns(groups).slice(0, top);
  const contenders = groups.flat().filter((one) => order.includes(one));
  const names = contenders.map(({ name }) => name);
  const timed = rowsOf(table, contenders);
  const own = rowsOf(table, contenders.filter((c) => !c.published));
  const marks = marksOf(table);
  const lead = leadOf(table);
  const columns = order.map((one) => 1 + contenders.indexOf(one));
  // Its column says more than a fourth kernel.
  return {
    title: titleOf(table),
    head: [
      timed.length > 0 && timed.every((row) => row.median_us === "")
        ? "mean µs"
        : "median µs",
      ...names.map((name) => `${name}${marks.get(name)}`),
      ...(lead ? [lead.head] : []),
    ],
    ...(all
      ? {}
      : { ranked: lead ? columns.toSpliced(3, 0, names.length + 1) : columns }),
    body: shapes.map((shape): Cell[] => [
      { text: shape.label },
      ...names.map((name) => cellOf(shape, name)),
      ...(lead ? [factorCell(lead.factors([shape]))] : []),
    ]),
    foot: baseline === undefined ? [] : [[
      { text: `geomean vs ${baseline}` },
      ...names.map((name) =>
        factorCell(factorsOf(shapes, () => [name, baseline]))
      ),
      ...(lead ? [factorCell(lead.factors(shapes))] : []),
    ]],
    notes: [
      ...(own.some((row) => spreadOf(row) !== "")
        ? ["± half the interquartile range, % of the median rounded up"]
        : []),
      ...sourcesOf(table).map((source, i) => {
        const mark = isOneSource(table) ? "" : `[${i + 1}] `;
        return `${mark}${sourceNote(table, source)}`;
      }),
      ...conditionNotes(own),
      ...runNotes(own),
      ...(timed.some(isAboveSol) ? [SUSPECT_LEGEND] : []),
      ...(baseline === undefined ? [] : partialMeans(
        names.map((name) => {
          const factors = factorsOf(shapes, () => [name, baseline]);
          return [name, factors.length] as const;
        }),
        shapes.length,
      )),
      ...noiseNotes(own.filter(isNoisyRow).length, own.length),
      ...formatNotes(notedRows(table, contenders)),
      ...nowhereNotes(
        notedRows(table, table.contenders.filter((c) => !isShown(table, c))),
      ),
    ],
  };
}

/** Returns whether a contender has a time, or failed where it should have one. */
function isShown({ shapes }: Pivot, { name }: Contender): boolean {
  return shapes.some(({ rows }) => {
    const status = rows.get(name)?.status;
    return status !== undefined && status !== "unsupported";
  });
}

/**
 * Returns the contenders that ran: the baseline, peers, our own and published ones. In each group
 * those come first that are the fastest of it at most shapes, then those that are nearest to it.
 */
function ranked(table: Pivot): readonly (readonly Contender[])[] {
  const { contenders, shapes, baseline } = table;
  const shown = contenders.filter((one) => isShown(table, one));
  const others = shown.filter(({ name }) => name !== baseline);
  const sorted = (group: readonly Contender[]) => {
    const names = group.map(({ name }) => name);
    const scores = new Map(names.map((name) => [name, 0]));
    for (const { rows } of shapes) {
      const times = names.map((name) =>
        [name, soundTimeOf(rows.get(name))] as const
      );
      const least = Math.min(...times.map(([, us = Infinity]) => us));
      for (const [name, us = Infinity] of times) {
        // A win counts for more than all that is less than one.
        const score = us === least ? 1 + shapes.length : least / us;
        scores.set(name, scores.get(name)! + score);
      }
    }
    return group.toSorted((a, b) => scores.get(b.name)! - scores.get(a.name)!);
  };
  return [
    shown.filter(({ name }) => name === baseline),
    sorted(others.filter(({ peer }) => peer)),
    sorted(others.filter(({ peer, published }) => !peer && !published)),
    sorted(others.filter(({ published }) => published)),
  ];
}

/** Returns the baseline, then in turns one of our own, a peer and a published one. */
function inTurns(
  [baseline = [], peers = [], own = [], published = []]:
    readonly (readonly Contender[])[],
): Contender[] {
  const most = Math.max(peers.length, own.length, published.length);
  const turns = Array.from(
    { length: most },
    (_, i) => [own, peers, published].flatMap((group) => group.slice(i, i + 1)),
  );
  return [...baseline, ...turns.flat()];
}

/** The kernels that the last column compares. */
interface Lead {
  readonly head: string;
  factors(shapes: readonly PivotShape[]): Factor[];
}

/**
 * Returns how much faster the best of our own kernels is than the best peer at each shape; where
 * there are not both of them, the best kernel than the baseline.
 */
function leadOf({ contenders, shapes, baseline }: Pivot): Lead | undefined {
  const measured = contenders.filter(({ published }) => !published);
  const all = (measured.length > 0 ? measured : contenders).filter(({ name }) =>
    shapes.some(({ rows }) => soundTimeOf(rows.get(name)) !== undefined)
  );
  const peers = all.filter(({ peer }) => peer);
  const isMixed = peers.length > 0 && peers.length < all.length;
  const rivals = isMixed ? peers : all.filter(({ name }) => name === baseline);
  const own = all.filter((one) => !rivals.includes(one));
  if (own.length === 0 || rivals.length === 0) return undefined;
  return {
    head: isMixed ? "ours vs best peer" : `fastest vs ${baseline}`,
    factors: (shapes) =>
      factorsOf(
        shapes,
        (shape) => [fastest(shape, own), fastest(shape, rivals)],
      ),
  };
}

function fastest(
  { rows }: PivotShape,
  of: readonly Contender[],
): string | undefined {
  const time = ({ name }: Contender) => soundTimeOf(rows.get(name)) ?? Infinity;
  return of.toSorted((a, b) => time(a) - time(b))[0]?.name;
}

/** Returns one table of wins, ties and losses for each of `against` that `table` has. */
export function winsSheets(table: Pivot, against: readonly string[]): Sheet[] {
  const marks = marksOf(table);
  const own = allWins(table, against);
  return [...Map.groupBy(own, (wins) => wins.against)].map(([other, all]) => ({
    title: `${titleOf(table)}: how many times as fast as ${other}${
      marks.get(other) ?? ""
    }`,
    head: ["kernel", "wins/ties/losses", "min", "median", "max", "geomean"],
    body: all.map((wins): Cell[] => [
      { text: `${wins.kernel}${marks.get(wins.kernel) ?? ""}` },
      { text: `${wins.wins}/${wins.ties}/${wins.losses}` },
      ...[wins.min, wins.median, wins.max, wins.geomean].map((factor) => ({
        text: factor!.toFixed(3),
      })),
    ]),
    foot: [],
    notes: all.flatMap(({ kernel, missing, suspect }) => {
      const of = `of ${table.shapes.length} shapes`;
      const without = missing - suspect;
      return [
        ...(without === 0 ? [] : [
          `${kernel}: ${without} ${of} are not measured for it or ${other}, and not counted`,
        ]),
        ...(suspect === 0 ? [] : [
          `${kernel}: at ${suspect} ${of} it or ${other} is above SOL, and not counted`,
        ]),
      ];
    }),
  }));
}

/**
 * Formats microseconds with four significant digits.
 *
 * @example
 * ```ts
 * import { formatMicroseconds } from "./table.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(formatMicroseconds(8.6134), "8.613");
 * strictEqual(formatMicroseconds(86134.2), "86134");
 * ```
 */
export function formatMicroseconds(us: number): string {
  const whole = Math.max(1, `${Math.floor(us)}`.length);
  return us.toFixed(Math.max(0, 4 - whole));
}

/** Returns the title of `table`. */
export function titleOf({ suite, device }: Pivot): string {
  return device === "" ? suite : `${suite} on ${device}`;
}

function cellOf(shape: PivotShape, name: string): Cell {
  const row = shape.rows.get(name);
  if (row === undefined) return { text: "" };
  const us = timeOf(row);
  if (us === undefined) {
    const paint = row.status === "unsupported" ? "dim" : "bad";
    return { text: row.status, paint };
  }
  const noisy = isNoisyRow(row) ? "~" : "";
  const mark = isAboveSol(row) ? SUSPECT_MARK : "";
  const paint = name === shape.best ? "best" : "plain";
  const text = `${noisy}${formatMicroseconds(us)}${mark}`;
  return { text, beside: spreadOf(row), paint };
}

/** Returns half the interquartile range, in whole percent of the median; empty where it is none. */
function spreadOf({ median_us, q1_us, q3_us }: CsvRow): string {
  if (median_us === "" || q1_us === q3_us) return "";
  const percent = 50 * (Number(q3_us) - Number(q1_us)) / Number(median_us);
  return `±${Math.ceil(percent)}%`;
}

/** A speed-up at a shape, and whether one of its two rows is noisy. */
interface Factor {
  readonly factor: number;
  readonly noisy: boolean;
}

/** Returns the speed-ups at each shape of a contender over another, where both have times. */
function factorsOf(
  shapes: readonly PivotShape[],
  pairOf: (
    shape: PivotShape,
  ) => readonly [string | undefined, string | undefined],
): Factor[] {
  return shapes.flatMap((shape) => {
    const [name, other] = pairOf(shape);
    const factor = speedup(shape, name, other);
    if (factor === undefined) return [];
    // Relative to itself a kernel is 1.00x, whatever its noise.
    const noisy = name !== other &&
      [name, other].some((one) => isNoisyRow(shape.rows.get(one ?? "")!));
    return [{ factor, noisy }];
  });
}

/** Formats the mean of `factors`, marked if one of them rests on a noisy row. */
function factorCell(factors: readonly Factor[]): Cell {
  const mean = geomean(factors.map(({ factor }) => factor));
  const mark = factors.some(({ noisy }) => noisy) ? "~" : "";
  const text = mean === undefined ? "" : `${mark}${mean.toFixed(2)}x`;
  return { text, beside: "" };
}

/** Returns the marks of published contenders, `[1]` and so on, by name; empty for one source. */
function marksOf(table: Pivot): ReadonlyMap<string, string> {
  const sources = isOneSource(table) ? [] : sourcesOf(table);
  return new Map(
    table.contenders.map((contender) => {
      const at = sources.findIndex((own) => own.includes(contender));
      return [contender.name, at < 0 ? "" : `[${at + 1}]`];
    }),
  );
}

/** Returns the published contenders by device and run. */
function sourcesOf({ contenders }: Pivot): (readonly Contender[])[] {
  const published = contenders.filter((contender) => contender.published);
  return [
    ...Map.groupBy(
      published,
      ({ device, run }) => JSON.stringify([device, run]),
    ).values(),
  ];
}

function isOneSource(table: Pivot): boolean {
  return table.contenders.every(({ published }) => published) &&
    sourcesOf(table).length === 1;
}

function sourceNote(table: Pivot, source: readonly Contender[]): string {
  const rows = rowsOf(table, source);
  const { device, run } = source[0]!;
  const own = table.contenders.some(({ published }) => !published);
  const other = own ? "another machine's, " : "";
  const means = rows.some((row) => row.median_us === "") ? ", means" : "";
  const how = conditionsOf(rows[0]!);
  return `${other}published: ${device}, ${run} (${how}${means})`;
}

function conditionNotes(own: readonly CsvRow[]): string[] {
  const ways = new Set(own.map(conditionsOf));
  if (ways.size < 2) return [];
  return [`not comparable, as measured differently: ${[...ways].join("; ")}`];
}

function conditionsOf(row: CsvRow): string {
  return CONDITIONS.map((column) => row[column]).join(" ");
}

function rowsOf(table: Pivot, own: readonly Contender[]): CsvRow[] {
  return table.shapes.flatMap(({ rows }) =>
    own.flatMap(({ name }) => rows.get(name) ?? [])
  ).filter((row) => timeOf(row) !== undefined);
}
