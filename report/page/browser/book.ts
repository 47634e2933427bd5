/**
 * The rows of the page: one entry for each case of either run, in the model's pivots.
 *
 * @module
 */

import type { Column, CsvRow } from "../../../bench/row/csv_row.ts";
import { COLUMNS, isPublished } from "../../../bench/row/row.ts";
import { type Pivot, pivots, type PivotShape } from "../../model/pivot.ts";
import { isSuspect, timeOf } from "../../model/sol.ts";

/** The rows of one run, by column: so they are smallest when compressed. */
export interface EncodedRun {
  /** The name of the run beside the other. */
  readonly label: string;
  readonly rows: number;
  /** A column without any value is left out. */
  readonly columns: Readonly<Partial<Record<Column, readonly string[]>>>;
  /**
   * Nanoseconds a row, the first as it is and the others as differences from the one before;
   * undefined where no row has any.
   */
  readonly series?: readonly (readonly number[])[];
}

/** A case of either run: indices of rows, -1 for none, the verdict and why. */
export type EncodedPair = readonly [
  now: number,
  base: number,
  verdict: string,
  why: string,
];

/** Everything that the page shows. */
export interface PageData {
  readonly run: EncodedRun;
  readonly against?: EncodedRun;
  readonly pairs?: readonly EncodedPair[];
  /** Kernels that speed-ups are relative to, the preferred first, by suite. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
}

/** Reads the text of the page's data: gzip as base64. */
export async function readPageData(text: string): Promise<PageData> {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).json();
}

/** A run as the page works with it. */
export interface Run {
  readonly label: string;
  readonly rows: readonly CsvRow[];
  /** Returns quantiles of the samples in microseconds; undefined where none were kept. */
  seriesOf(row: CsvRow): number[] | undefined;
}

/** A case: its row in this run, and in the other where there is one. */
export interface Entry {
  /** The place among all entries in the order of the pivots. */
  readonly order: number;
  readonly now: CsvRow | undefined;
  readonly base: CsvRow | undefined;
  readonly suite: string;
  readonly device: string;
  /** The name of the contender in the pivot. */
  readonly kernel: string;
  readonly pivot: Pivot;
  /** The line of the pivot; entries of the same object are compared. */
  readonly shape: PivotShape;
  /** `missing` where only the other run has the case, else as in the CSV. */
  readonly status: string;
  readonly note: string;
  /** Microseconds; undefined where the case has no time. */
  readonly median: number | undefined;
  /** Above the speed of light (SOL) with a cold cache: no record, and no part of a mean. */
  readonly suspect: boolean;
  /** Microseconds in the other run. */
  readonly before: number | undefined;
  readonly suspectBefore: boolean;
  readonly verdict: string;
  readonly why: string;
}

/** The two runs and their cases. */
export interface Book {
  readonly data: PageData;
  readonly now: Run;
  readonly base: Run | undefined;
  readonly entries: readonly Entry[];
  /** Names of kernels in the order of the rows. */
  readonly kernels: readonly string[];
}

/** A case before it has a place in a pivot. */
type Case = Pick<Entry, "now" | "base" | "verdict" | "why">;

/** Arranges `data` by suite and device. */
export function bookOf(data: PageData): Book {
  const now = runOf(data.run);
  const base = data.against && runOf(data.against);
  const all: Case[] = data.pairs
    ? data.pairs.map(([row, other, verdict, why]) => ({
      now: now.rows[row],
      base: base?.rows[other],
      verdict,
      why,
    }))
    : now.rows.map((row) => ({
      now: row,
      base: undefined,
      verdict: "",
      why: "",
    }));
  // A case of the other run alone has a place, but no time in this one.
  const cases = new Map(
    all.map((one) => [one.now ?? { ...one.base!, status: "missing" }, one]),
  );
  const tables = [...Map.groupBy(cases.keys(), deviceOf).values()]
    .flatMap((rows) => pivots(rows, { baselines: () => [] }));
  const byRow = new Map<CsvRow, Entry>();
  for (const pivot of tables) {
    for (const shape of pivot.shapes) {
      for (const [kernel, row] of shape.rows) {
        const place = { order: byRow.size, pivot, shape, kernel };
        byRow.set(row, entryOf(row, { ...cases.get(row)!, ...place }));
      }
    }
  }
  const kernels = [...cases.keys()].map((row) => byRow.get(row)?.kernel)
    .filter((name) => name !== undefined);
  return {
    data,
    now,
    base,
    entries: [...byRow.values()],
    kernels: [...new Set(kernels)],
  };
}

function entryOf(
  row: CsvRow,
  place: Case & Pick<Entry, "order" | "pivot" | "shape" | "kernel">,
): Entry {
  const { base } = place;
  return {
    ...place,
    suite: row.suite,
    device: deviceOf(row),
    status: row.status,
    note: row.note,
    median: timeOf(row),
    suspect: isSuspect(row),
    before: timeOf(base),
    suspectBefore: base !== undefined && isSuspect(base),
  };
}

/** Returns where a row was measured; published figures are others', and never beside ours. */
function deviceOf(row: CsvRow): string {
  return isPublished(row)
    ? `${row.device} (published: ${row.run})`
    : row.device;
}

function runOf({ label, rows, columns, series = [] }: EncodedRun): Run {
  const decoded = Array.from({ length: rows }, (_, at) =>
    Object.fromEntries(
      COLUMNS.map((column) => [column, columns[column]?.[at] ?? ""]),
    ) as CsvRow);
  const places = new Map(decoded.map((row, at) => [row, at]));
  return {
    label,
    rows: decoded,
    seriesOf(row) {
      const steps = series[places.get(row) ?? -1] ?? [];
      let at = 0;
      return steps.length === 0
        ? undefined
        : steps.map((step) => (at += step) / 1000);
    },
  };
}

/** Returns the number in a field of a row; undefined where it is empty or none. */
export function numberIn(text: string | undefined): number | undefined {
  const value = text === undefined || text === "" ? NaN : Number(text);
  return Number.isNaN(value) ? undefined : value;
}

/** Returns half the range between the quartiles as a share of the median. */
export function spreadOf({ now, median }: Entry): number | undefined {
  const [q1, q3] = [numberIn(now?.q1_us), numberIn(now?.q3_us)];
  return median === undefined || q1 === undefined || q3 === undefined
    ? undefined
    : (q3 - q1) / 2 / median;
}

/** Returns the share of the speed of light that is reached. */
export function solShareOf({ now, median }: Entry): number | undefined {
  const sol = numberIn(now?.sol_us);
  return median === undefined || sol === undefined ? undefined : sol / median;
}

/** Returns how the time changed since the other run: 1.05 is 5 % slower. */
export function changeOf({ median, before }: Entry): number | undefined {
  return median === undefined || before === undefined
    ? undefined
    : median / before;
}

/** Returns whether an entry has a time that may be compared. */
export function isTimed(
  entry: Entry,
): entry is Entry & { readonly median: number } {
  return entry.median !== undefined && !entry.suspect;
}

/** Returns whether an entry is a failure; an unsupported case is none. */
export function isFailed({ status }: Entry): boolean {
  return !["ok", "unsupported", "missing"].includes(status);
}
