/**
 * Makes the table of the parts of a program's step, with the time that faster kernels would save.
 *
 * @module
 */

import { percent, shortened } from "../../bench/files/terminal_text.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { isNoisyRow, noiseNotes } from "../model/noise.ts";
import { soundTimeOf } from "../model/sol.ts";
import { formatMicroseconds } from "./metrics.ts";
import type { Cell, Sheet } from "./sheet.ts";

/** Rows of one point and one timer. */
export interface Measured {
  /** The row of the kernel that the program runs now; undefined if it has none. */
  readonly now: CsvRow | undefined;
  /** The row of the fastest kernel. */
  readonly fastest: CsvRow;
}

/** A part of the step of a program, and its measured rows. */
export interface WeightLine {
  readonly label: string;
  /** Calls a step; undefined for time in which no kernel runs. */
  readonly calls?: number | undefined;
  /** Milliseconds a step; undefined if unknown. */
  readonly ms: number | undefined;
  /** Share of the time of all kernels, or of their bound; from 0 to 1. */
  readonly share: number | undefined;
  /** Whether it has rows; `no op` if no op computes it, `other` if it is no GEMM. */
  readonly state: "measured" | "not measured" | "no op" | "other";
  readonly measured?: Measured | undefined;
  /** The same by a timer whose calls follow each other, as those of a program do. */
  readonly chained?: Measured | undefined;
}

/** The parts of a step, and notes on them. */
export interface Weights {
  readonly title: string;
  readonly lines: readonly WeightLine[];
  /** Milliseconds of the step; undefined if unknown. */
  readonly ms: number | undefined;
  /** `window` if the steps are unknown: the whole recorded window. */
  readonly unit: "step" | "window";
  readonly notes: readonly string[];
}

/**
 * Returns the milliseconds a step that the fastest kernel of `measured` saves: the saved share of its
 * measured time, multiplied by the program's own time, or by the measured time of all calls if that is
 * unknown.
 *
 * Captured times are of kernels alone, while those of rows include a launch. The time of an empty
 * call is therefore subtracted from both rows.
 */
function savedMs(
  { ms, calls }: Pick<WeightLine, "ms" | "calls">,
  measured: Measured | undefined,
): number | undefined {
  const now = soundTimeOf(measured?.now);
  const fastest = soundTimeOf(measured?.fastest);
  if (now === undefined || fastest === undefined) return undefined;
  const own = now - launchUs(measured!.now!, now);
  const least = fastest - launchUs(measured!.fastest, fastest);
  const all = ms ?? (calls === undefined ? undefined : nowMs(calls, own));
  if (all === undefined) return undefined;
  // A call that is as fast as an empty one has no time to save.
  return own > 0 ? all * (1 - least / own) : 0;
}

/** Returns the microseconds of an empty call by the timer of a row, at most `us`; 0 if unknown. */
function launchUs({ floor_us }: CsvRow, us: number): number {
  return Math.min(Number(floor_us), us);
}

function nowMs(calls: number, us: number): number {
  return calls * us / 1e3;
}

/** The most kernels other than GEMMs with a line of their own. */
const MOST_OTHERS = 5;
/** The most characters of a label: the name of a C++ template may be long. */
const MOST_NAME = 60;

/**
 * Makes the table of `weights`: a line for each part of the step, and one of sums.
 *
 * @param most GEMMs that have a line; the others share one. @default {all}
 */
export function weightsSheet(weights: Weights, most = Infinity): Sheet {
  const { title, lines, ms, unit, notes } = weights;
  const gemms = lines.filter(({ state }) => state !== "other");
  const [kernels, idle] = [true, false].map((hasCalls) =>
    lines.filter(({ state, calls }) =>
      state === "other" && (calls !== undefined) === hasCalls
    )
  ) as [WeightLine[], WeightLine[]];
  const parts = [
    ...partsOf(gemms, most, "GEMMs"),
    ...partsOf(kernels, MOST_OTHERS, "kernels"),
    ...partsOf(idle, 1, ""),
  ];
  const columns = columnsOf(weights);
  const total = ms === undefined ? "measured ms" : `ms a ${unit}`;
  return {
    title,
    head: ["what runs", ...columns.map(({ head }) => head)],
    body: parts.map(({ label, own }) => [
      { text: shortened(label, MOST_NAME) },
      ...columns.map((column) => cellOf(column, own)),
    ]),
    foot: [[
      { text: "sum" },
      ...columns.map((column) => column.isSum ? cellOf(column, lines) : EMPTY),
    ]],
    notes: [
      ...meaningNotes(lines, total),
      ...noiseNotes(measuredRows(lines)),
      ...notes,
      ...savingNotes({ lines, ms, unit }),
    ],
    star: "faster than what runs now",
    ranked: rankedOf(columns, unit),
  };
}

/** Returns the rows that the figures of `lines` rest on, each once. */
function measuredRows(lines: readonly WeightLine[]): readonly CsvRow[] {
  const rows = lines.flatMap(({ measured, chained }) => [
    ...[measured?.now, measured?.fastest],
    ...[chained?.now, chained?.fastest],
  ]);
  return [...new Set(rows)].filter((row) => row !== undefined);
}

/** Returns the columns of figures. */
function columnsOf({ lines, ms, unit }: Weights): readonly Column[] {
  const isTimed = ms !== undefined;
  const isChained = lines.some(({ chained }) => chained !== undefined);
  return [
    { head: `calls a ${unit}`, of: ({ calls }) => calls, format: shortCount },
    ...(isTimed
      ? [{ head: `ms a ${unit}`, of: ({ ms }: WeightLine) => ms, isSum: true }]
      : []),
    {
      head: isTimed ? "share of kernels" : "share of bound",
      of: ({ share }) => share,
      format: percent,
      isSum: true,
    },
    {
      head: "measured ms",
      of: measuredMs,
      isSum: true,
      rowsOf: ({ measured }) => [measured?.now],
    },
    {
      head: "share of SOL",
      cellOf: ({ measured }) => {
        const us = soundTimeOf(measured?.now);
        const sol = Number(measured?.now?.sol_us || NaN);
        return us === undefined || Number.isNaN(sol)
          ? EMPTY
          : { text: percent(sol / us) };
      },
    },
    { head: "fastest", cellOf: fastestCell },
    savedColumn("ms to win", ({ measured }) => measured),
    ...(isChained
      ? [savedColumn("back to back", ({ chained }) => chained)]
      : []),
  ];
}

/** Returns the positions of `columns` in the table, those first that a narrow screen keeps longest. */
function rankedOf(
  columns: readonly Column[],
  unit: Weights["unit"],
): readonly number[] {
  const heads = [
    "share of kernels",
    "share of bound",
    "ms to win",
    "fastest",
    `ms a ${unit}`,
    "back to back",
    "measured ms",
    "share of SOL",
    `calls a ${unit}`,
  ];
  return heads
    .map((head) => 1 + columns.findIndex((column) => column.head === head))
    .filter((at) => at > 0);
}

/** Lines that are shown as one line of the table. */
interface Part {
  readonly label: string;
  readonly own: readonly WeightLine[];
}

/** Returns a part for each of the first `most` lines, and one of all others. */
function partsOf(
  lines: readonly WeightLine[],
  most: number,
  name: string,
): readonly Part[] {
  const single = lines.length - most === 1 ? lines.length : most;
  const rest = lines.slice(single);
  return [
    ...lines.slice(0, single).map((line) => ({
      label: line.label,
      own: [line],
    })),
    ...(rest.length > 0
      ? [{ label: `${rest.length} other ${name}`, own: rest }]
      : []),
  ];
}

/** A column of figures. They are added if several lines are shown as one. */
interface Column {
  readonly head: string;
  readonly of?: (line: WeightLine) => number | undefined;
  /** @default {milliseconds} */
  readonly format?: (value: number) => string;
  /** The rows from which a figure is computed. @default {none} */
  readonly rowsOf?: (line: WeightLine) => readonly (CsvRow | undefined)[];
  /** Whether the last line has the sum. @default {false} */
  readonly isSum?: boolean;
  /** Makes the cell of one line, for figures that cannot be added. */
  readonly cellOf?: (line: WeightLine) => Cell;
}

function cellOf(
  { of, format = formatMs, rowsOf, cellOf }: Column,
  own: readonly WeightLine[],
): Cell {
  const [line] = own;
  if (cellOf) return own.length === 1 ? cellOf(line!) : EMPTY;
  const value = totalOf(own, of!);
  if (value === undefined) return EMPTY;
  const isNoisy = own.some((one) =>
    of!(one) && rowsOf?.(one).some((row) => row && isNoisyRow(row))
  );
  return { text: `${isNoisy ? "~" : ""}${format(value)}` };
}

function measuredMs({ calls, measured }: WeightLine): number | undefined {
  const us = soundTimeOf(measured?.now);
  return us === undefined || calls === undefined ? undefined : nowMs(calls, us);
}

function fastestCell({ state, measured }: WeightLine): Cell {
  if (state === "other") return EMPTY;
  if (measured === undefined) {
    return { text: state, paint: state === "no op" ? "dim" : "bad" };
  }
  const { now, fastest } = measured;
  const isNow = now === undefined || now.kernel === fastest.kernel;
  return { text: fastest.kernel, paint: isNow ? "plain" : "best" };
}

function savedColumn(
  head: string,
  of: (line: WeightLine) => Measured | undefined,
): Column {
  return {
    head,
    of: (line) => savedMs(line, of(line)),
    rowsOf: (line) => [of(line)?.now, of(line)?.fastest],
    isSum: true,
  };
}

/** Returns `weights` as data for other programs: kernels with their times in microseconds. */
export function weightsData(
  { title, lines, ms, unit, notes }: Weights,
): object {
  const timeOf = (row: CsvRow) => ({
    kernel: row.kernel,
    time_us: soundTimeOf(row),
    timer: row.timer,
    suite: row.suite,
  });
  const dataOf = (line: WeightLine, measured: Measured | undefined) =>
    measured === undefined ? undefined : {
      ...(measured.now && { now: timeOf(measured.now) }),
      fastest: timeOf(measured.fastest),
      saved_ms: savedMs(line, measured),
    };
  return {
    title,
    unit,
    ms,
    lines: lines.map(({ measured, chained, ...line }) => ({
      ...line,
      measured: dataOf(line, measured),
      back_to_back: dataOf(line, chained),
    })),
    notes,
  };
}

/** Returns the note on how the figures are computed; none without figures. */
function meaningNotes(lines: readonly WeightLine[], all: string): string[] {
  const now = new Set(
    lines.flatMap(({ measured }) => measured?.now?.kernel ?? []),
  );
  return now.size === 0 ? [] : [
    `measured ms: calls × time of ${
      [...now].join(", ")
    }; ms to win: ${all} × (1 - fastest / measured), both less floor_us`,
  ];
}

/** Returns the notes on the time of the step with the fastest kernels, by each way of measuring. */
function savingNotes(
  { lines, ms, unit }: Pick<Weights, "lines" | "ms" | "unit">,
): string[] {
  if (ms === undefined) return [];
  const saying = (
    how: string,
    of: (line: WeightLine) => Measured | undefined,
  ) => {
    const own = lines.filter((line) => savedMs(line, of(line)) !== undefined);
    if (own.length === 0) return [];
    const saved = sumOf(own.map((line) => savedMs(line, of(line))!));
    const part = sumOf(own.map(({ share = 0 }) => share));
    return [
      `${how} the ${unit} of ${formatMs(ms)} ms becomes ${
        formatMs(ms - saved)
      } ms, ${(ms / (ms - saved)).toFixed(3)}x as fast; ${
        percent(part)
      } of its kernel time is measured`,
    ];
  };
  return [
    ...saying("with the fastest kernels", ({ measured }) => measured),
    ...saying("back to back", ({ chained }) => chained),
  ];
}

const EMPTY: Cell = { text: "" };

/** Formats milliseconds with four significant digits, of less than 1 with three decimals. */
function formatMs(ms: number): string {
  return Math.abs(ms) < 1 ? ms.toFixed(3) : formatMicroseconds(ms);
}

function shortCount(count: number): string {
  return `${Number(count.toPrecision(4))}`;
}

/** Returns the sum over the lines with a figure; undefined if none has one. */
function totalOf(
  lines: readonly WeightLine[],
  of: (line: WeightLine) => number | undefined,
): number | undefined {
  const found = lines.map(of).filter((value) => value !== undefined);
  return found.length === 0 ? undefined : sumOf(found);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
