/**
 * Makes the table of what a program spends its step on, and what faster kernels save of it.
 *
 * @module
 */

import { percent, shortened } from "../../bench/files/terminal_text.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { isNoisyRow, noiseNotes } from "../model/noise.ts";
import { soundTimeOf } from "../model/sol.ts";
import { formatMicroseconds } from "./metrics.ts";
import type { Cell, Sheet } from "./sheet.ts";

/** Rows of one point that were timed in one way. */
export interface Measured {
  /** Of the kernel that the program runs now; undefined where it has none. */
  readonly now: CsvRow | undefined;
  /** Of the fastest kernel. */
  readonly fastest: CsvRow;
}

/** What a program spends a part of its step on, and how that was measured here. */
export interface WeightLine {
  readonly label: string;
  /** Calls a step; undefined for time without a kernel. */
  readonly calls?: number | undefined;
  /** Milliseconds a step; undefined where they are unknown. */
  readonly ms: number | undefined;
  /** Of the time of all kernels, or of their bound; from 0 to 1. */
  readonly share: number | undefined;
  /** What its rows are: there, not there, of no operation; or it is no GEMM. */
  readonly state: "measured" | "not measured" | "no op" | "other";
  readonly measured?: Measured | undefined;
  /** The same by a timer whose calls follow each other, as those of a program do. */
  readonly chained?: Measured | undefined;
}

/** The lines of a step, and what is said about them. */
export interface Weights {
  readonly title: string;
  readonly lines: readonly WeightLine[];
  /** Milliseconds of the step; undefined where they are unknown. */
  readonly ms: number | undefined;
  /** What a step is: the whole window where its steps are unknown. */
  readonly unit: "step" | "window";
  readonly notes: readonly string[];
}

/**
 * Returns the milliseconds a step that the fastest kernel of `measured` saves: of the program's own
 * time the share that it saves of the measured one, else of the measured time of all calls.
 *
 * Captured times are of kernels alone, and those of rows have a launch too. So both times are
 * taken less what an empty call takes by their timer.
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

/** Microseconds of an empty call by the timer of `row`, `us` at most; 0 where they are unknown. */
function launchUs({ floor_us }: CsvRow, us: number): number {
  return Math.min(Number(floor_us), us);
}

function nowMs(calls: number, us: number): number {
  return calls * us / 1e3;
}

/** Kernels other than GEMMs that have a line. */
const MOST_OTHERS = 5;
/** Columns of a label: a kernel's name may be a template of C++. */
const MOST_NAME = 60;

/**
 * Returns `weights` with a line for each part of the step, and one of sums.
 *
 * @param most GEMMs that have a line; the others share one. @default {all}
 */
export function weightsSheet(
  { title, lines, ms, unit, notes }: Weights,
  most = Infinity,
): Sheet {
  const isTimed = ms !== undefined;
  const isChained = lines.some(({ chained }) => chained !== undefined);
  const gemms = lines.filter(({ state }) => state !== "other");
  const others = lines.filter(({ state, calls }) =>
    state === "other" && calls !== undefined
  );
  const idle = lines.filter(({ state, calls }) =>
    state === "other" && calls === undefined
  );
  const rows = [
    ...new Set(
      lines.flatMap(({ measured, chained }) => [
        ...[measured?.now, measured?.fastest],
        ...[chained?.now, chained?.fastest],
      ]),
    ),
  ].filter((row) => row !== undefined);
  const parts = [
    ...partsOf(gemms, most, "GEMMs"),
    ...partsOf(others, MOST_OTHERS, "kernels"),
    ...partsOf(idle, 1, ""),
  ];
  const columns: readonly Column[] = [
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
  const ranked = [
    ...[
      "share of kernels",
      "share of bound",
      "ms to win",
      "fastest",
      `ms a ${unit}`,
    ],
    ...["back to back", "measured ms", "share of SOL", `calls a ${unit}`],
  ].map((head) => 1 + columns.findIndex((column) => column.head === head))
    .filter((at) => at > 0);
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
      ...meaningNotes(lines, isTimed ? `ms a ${unit}` : "measured ms"),
      ...noiseNotes(rows),
      ...notes,
      ...savingNotes({ lines, ms, unit }),
    ],
    star: "faster than what runs now",
    ranked,
  };
}

/** Lines that share one of the table. */
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

/** A column of figures, which are added where lines share one. */
interface Column {
  readonly head: string;
  readonly of?: (line: WeightLine) => number | undefined;
  /** @default {milliseconds} */
  readonly format?: (value: number) => string;
  /** The rows that a figure rests on. @default {none} */
  readonly rowsOf?: (line: WeightLine) => readonly (CsvRow | undefined)[];
  /** Whether the last line has the sum of all. @default {false} */
  readonly isSum?: boolean;
  /** The cell of one line, of what cannot be added. */
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

/** Says what figures are of, where there are any. */
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

/** Says what becomes of the step, by each way of measuring. */
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

/** Returns the sum over the lines with a figure; undefined where none has one. */
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
