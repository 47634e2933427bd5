/**
 * Rows as a table to read: shapes down, kernels across, medians in µs, and how much
 * faster than the baseline.
 *
 * @module
 */

import { geomean } from "../../bench/measure/stats.ts";
import {
  type Key,
  KEY_COLUMNS,
  type Row,
  type TimedRow,
} from "../../bench/row/row.ts";
import { type Cell, formatGrid, type GridOptions } from "./grid.ts";
import { isSuspect, SUSPECT_LEGEND, SUSPECT_MARK } from "../model/sol.ts";
import { isNoisy, noiseNotes } from "../diff/noise.ts";
import { formatNotes, partialMeans } from "./notes.ts";

/** The kernel that is the definition: what is left to compare with where no library is. */
const DEFINITION = "naive";

/** What a table is made with. */
export interface TableOptions extends GridOptions {
  /** Kernels that speed-ups are relative to, the preferred first, by suite. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
}

/** The lines of one table for each suite in `rows`, in the order in which they come. */
export function formatTable(
  rows: readonly Row[],
  options: TableOptions,
): string[] {
  const suites = Map.groupBy(rows, ({ key }) => key.suite);
  return [...suites].flatMap(([suite, own], i) => [
    ...(i > 0 ? [""] : []),
    ...suiteTable(own, options.baselines[suite] ?? [], options),
  ]);
}

/**
 * Microseconds with four digits that count.
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

function suiteTable(
  rows: readonly Row[],
  baselines: readonly string[],
  options: GridOptions,
): string[] {
  const kernels = [...new Set(rows.map(({ key }) => key.kernel))];
  const timed = rows.filter(isTimed);
  const sound = timed.filter(isSound);
  const baseline = baselines.find((name) =>
    sound.some(({ key }) => key.kernel === name)
  );
  const label = labelling(rows);
  const shapes = [...Map.groupBy(rows, ({ key }) => label(key))]
    .map(([shape, at]) => new Shape(shape, at, baseline));

  const against = shapes.some(({ rival }) => rival !== undefined)
    ? [`best other vs ${baseline}`]
    : [];
  const head = ["median µs", ...kernels, ...against]
    .map((text): Cell => ({ text, paint: "head" }));
  const body = shapes.map((shape): Cell[] => [
    { text: shape.label },
    ...kernels.map((kernel) => shape.cell(kernel)),
    ...against.map(() => factor(shape.speedup(shape.rival?.key.kernel))),
  ]);
  const mean = (kernelOf: (shape: Shape) => string | undefined) =>
    factor(meanOf(shapes.map((shape) => shape.speedup(kernelOf(shape)))));
  const timedAt = (kernel: string) =>
    shapes.filter((shape) => shape.speedup(kernel) !== undefined).length;
  const foot: Cell[][] = baseline === undefined ? [] : [[
    { text: "geomean" },
    ...kernels.map((kernel) => mean(() => kernel)),
    ...against.map(() => mean(({ rival }) => rival?.key.kernel)),
  ]];
  const { suite } = rows[0]!.key;
  const { device } = rows[0]!.place;
  return [
    device === "" ? suite : `${suite} on ${device}`,
    ...formatGrid([head, ...body, ...foot], options),
    ...[
      ...(timed.length === 0 ? [] : ["* fastest at its shape"]),
      ...(sound.length < timed.length ? [SUSPECT_LEGEND] : []),
      ...(baseline === DEFINITION && against.length > 0
        ? [
          `${DEFINITION} is the definition in TypeScript, to be read: factors against it say nothing of a library`,
        ]
        : []),
      ...(baseline === undefined ? [] : partialMeans(
        kernels.map((kernel) => [kernel, timedAt(kernel)]),
        shapes.length,
      )),
      ...noiseNotes(timed.filter(isUncertain).length, timed.length),
    ].map((note) => `  ${note}`),
    ...formatNotes(rows, label),
  ];
}

/** The rows of one shape. */
class Shape {
  readonly best: TimedRow | undefined;
  /** The best but for the baseline: among others that could never lose. */
  readonly rival: TimedRow | undefined;
  readonly #rows: ReadonlyMap<string, Row>;
  readonly #against: Row | undefined;

  constructor(
    readonly label: string,
    rows: readonly Row[],
    baseline: string | undefined,
  ) {
    this.#rows = new Map(rows.map((row) => [row.key.kernel, row]));
    this.#against = this.#rows.get(baseline ?? "");
    const order = rows.filter(isSound).toSorted((a, b) =>
      a.figures.median_us - b.figures.median_us
    );
    this.best = order[0];
    this.rival = baseline === undefined
      ? undefined
      : order.find(({ key }) => key.kernel !== baseline);
  }

  cell(kernel: string): Cell {
    const row = this.#rows.get(kernel);
    if (row === undefined) return { text: "" };
    if (isTimed(row)) {
      // The mark must be seen without colour too, and the digits stay aligned.
      const about = isUncertain(row) ? "~" : "";
      const text = `${about}${formatMicroseconds(row.figures.median_us)}`;
      return row === this.best
        ? { text: `${text}*`, paint: "best" }
        : { text: `${text}${isSound(row) ? " " : SUSPECT_MARK}` };
    }
    const paint = row.status === "unsupported" || row.status === "checked"
      ? "dim"
      : "bad";
    return { text: `${row.status} `, paint };
  }

  /** How many times faster than the baseline `kernel` is. */
  speedup(kernel: string | undefined): number | undefined {
    const row = this.#rows.get(kernel ?? "");
    if (!row || !isSound(row)) return undefined;
    if (!this.#against || !isSound(this.#against)) return undefined;
    return this.#against.figures.median_us / row.figures.median_us;
  }
}

function isTimed(row: Row): row is TimedRow {
  return row.status === "ok";
}

function isUncertain({ figures }: TimedRow): boolean {
  return isNoisy(figures);
}

/** Whether it may be compared. */
function isSound(row: Row): row is TimedRow {
  return isTimed(row) && !isSuspect({
    cache: `${row.provenance.cache ?? ""}`,
    time_us: row.figures.median_us,
    sol_us: row.figures.sol_us,
  });
}

function meanOf(speedups: readonly (number | undefined)[]): number | undefined {
  return geomean(speedups.filter((s) => s !== undefined));
}

function factor(speedup: number | undefined): Cell {
  if (speedup === undefined) return { text: "" };
  return { text: `${speedup.toFixed(2)}x` };
}

/** How shapes are called: M×N×K, and what else differs between `rows`. */
function labelling(rows: readonly Row[]): (key: Key) => string {
  const own = ["suite", "kernel", "backend", "m", "n", "k"];
  const varying = KEY_COLUMNS.filter((column) =>
    !own.includes(column) &&
    new Set(rows.map(({ key }) => key[column])).size > 1
  );
  return (key) =>
    [`${key.m}×${key.n}×${key.k}`, ...varying.map((column) => key[column])]
      .filter((part) => part !== "").join(" ");
}
