/**
 * Makes the table of what a program spends its step on, and what faster kernels save of it.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { isNoisyRow } from "../model/noise.ts";
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
  /** From 0 to 1. */
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
 */
export function savedMs(
  { ms, calls }: Pick<WeightLine, "ms" | "calls">,
  measured: Measured | undefined,
): number | undefined {
  const now = soundTimeOf(measured?.now);
  const fastest = soundTimeOf(measured?.fastest);
  if (now === undefined || fastest === undefined) return undefined;
  const all = ms ?? (calls === undefined ? undefined : nowMs(calls, now));
  return all === undefined ? undefined : all * (1 - fastest / now);
}

function nowMs(calls: number, us: number): number {
  return calls * us / 1e3;
}

/** Returns `weights` with a line for each part of the step, and one of sums. */
export function weightsSheet(
  { title, lines, ms, unit, notes }: Weights,
): Sheet {
  const isChained = lines.some(({ chained }) => chained !== undefined);
  const isTimed = ms !== undefined;
  const columns: Column[] = [
    {
      head: `calls a ${unit}`,
      cellOf: ({ calls }) => plain(calls, shortCount),
    },
    ...(isTimed
      ? [{
        head: `ms a ${unit}`,
        cellOf: (line: WeightLine) => plain(line.ms, formatMs),
        sum: totalOf(lines, (line) => line.ms),
      }]
      : []),
    {
      head: isTimed ? "share" : "share of bound",
      cellOf: ({ share }) => plain(share, percent),
      sumText: percent(sumOf(lines.map(({ share }) => share ?? 0))),
    },
    {
      head: "measured ms",
      cellOf: (line) => {
        const us = soundTimeOf(line.measured?.now);
        const all = us === undefined || line.calls === undefined
          ? undefined
          : nowMs(line.calls, us);
        return marked(plain(all, formatMs), line.measured?.now);
      },
      sum: totalOf(lines, ({ calls = 0, measured }) => {
        const us = soundTimeOf(measured?.now);
        return us === undefined ? undefined : nowMs(calls, us);
      }),
    },
    {
      head: "share of SOL",
      cellOf: ({ measured }) => {
        const us = soundTimeOf(measured?.now);
        const sol = Number(measured?.now?.sol_us || NaN);
        return plain(us === undefined ? NaN : sol / us, percent);
      },
    },
    {
      head: "fastest",
      cellOf: ({ state, measured }) => {
        if (state === "other") return EMPTY;
        if (measured === undefined) {
          return { text: state, paint: state === "no op" ? "dim" : "bad" };
        }
        const { now, fastest } = measured;
        return {
          text: fastest.kernel,
          paint: now === undefined || now.kernel === fastest.kernel
            ? "plain"
            : "best",
        };
      },
    },
    savedColumn("ms to win", lines, ({ measured }) => measured),
    ...(isChained
      ? [savedColumn("back to back", lines, ({ chained }) => chained)]
      : []),
  ];
  const ranks = ["share", "share of bound", "ms to win", "fastest"];
  const ranked = [
    ...ranks,
    ...[`ms a ${unit}`, "back to back", "measured ms", "share of SOL"],
    `calls a ${unit}`,
  ].map((head) => 1 + columns.findIndex((column) => column.head === head))
    .filter((at) => at > 0);
  return {
    title,
    head: ["what runs", ...columns.map(({ head }) => head)],
    body: lines.map((line) => [
      { text: line.label },
      ...columns.map(({ cellOf }) => cellOf(line)),
    ]),
    foot: [[
      { text: "sum" },
      ...columns.map(({ sum, sumText = "" }) => ({
        text: sum === undefined ? sumText : formatMs(sum),
      })),
    ]],
    notes: [
      ...meaningNotes(lines, isTimed ? `ms a ${unit}` : "measured ms"),
      ...notes,
      ...savingNotes({ lines, ms, unit }),
    ],
    star: "faster than what runs now",
    ranked,
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
    ...{ title, unit, ms },
    lines: lines.map(({ measured, chained, ...line }) => ({
      ...line,
      measured: dataOf(line, measured),
      back_to_back: dataOf(line, chained),
    })),
    notes,
  };
}

/** A column of figures. */
interface Column {
  readonly head: string;
  cellOf(line: WeightLine): Cell;
  /** Milliseconds. */
  readonly sum?: number | undefined;
  readonly sumText?: string;
}

function savedColumn(
  head: string,
  lines: readonly WeightLine[],
  of: (line: WeightLine) => Measured | undefined,
): Column {
  return {
    head,
    cellOf: (line) => {
      const measured = of(line);
      const saved = savedMs(line, measured);
      return saved === 0
        ? plain(saved, formatMs)
        : marked(plain(saved, formatMs), measured?.now, measured?.fastest);
    },
    sum: totalOf(lines, (line) => savedMs(line, of(line))),
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
    }; ms to win: ${all} × (1 - fastest / measured)`,
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
      } of it is measured`,
    ];
  };
  return [
    ...saying("with the fastest kernels", ({ measured }) => measured),
    ...saying("back to back", ({ chained }) => chained),
  ];
}

const EMPTY: Cell = { text: "" };

function plain(
  value: number | undefined,
  format: (value: number) => string,
): Cell {
  return value === undefined || Number.isNaN(value)
    ? EMPTY
    : { text: format(value) };
}

function marked(cell: Cell, ...rows: readonly (CsvRow | undefined)[]): Cell {
  const isNoisy = rows.some((row) => row !== undefined && isNoisyRow(row));
  return cell.text === "" || !isNoisy
    ? cell
    : { ...cell, text: `~${cell.text}` };
}

/** Formats milliseconds with four significant digits, of less than 1 with three decimals. */
function formatMs(ms: number): string {
  return Math.abs(ms) < 1 ? ms.toFixed(3) : formatMicroseconds(ms);
}

function shortCount(count: number): string {
  return `${Number(count.toPrecision(4))}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
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
