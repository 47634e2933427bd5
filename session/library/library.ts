/**
 * Provides `bench`, `check`, `diff`, `readRows` and `table` to programs, each as the command of that
 * name. A function loads what it needs when it is called, so that a suite file that imports
 * `mnkbench` loads none of it.
 *
 * @module
 */

import type { FlatRow } from "../../bench/row/flat_row.ts";
import type { DiffData } from "../../report/diff/machine.ts";
import type { Verdict } from "../../report/diff/verdict.ts";
import type { Judging } from "./compare_rows.ts";
import type { BenchOptions, CheckOptions } from "./run_options.ts";

/** The outcome of {@linkcode bench}. */
export interface BenchResult {
  /** One for each case, its repeats combined; where it was stopped, of those that it came to. */
  readonly rows: readonly FlatRow[];
  /** The CSVs that were written. */
  readonly paths: readonly string[];
  /** Whether it was stopped by its signal: the same call goes on. */
  readonly stopped: boolean;
}

/**
 * Checks and times kernels, and writes their rows as CSVs.
 *
 * @throws {UserError} For options that are wrong, no usable device, no case, results that cannot be
 * written. What was measured is kept: the same call goes on.
 *
 * @example
 * ```ts ignore
 * import { bench, table } from "mnkbench";
 *
 * const { rows } = await bench({
 *   suites: ["matmul-fp32"],
 *   axes: { m: [16, 64], k: [1024] },
 *   signal: AbortSignal.timeout(600_000),
 * });
 * console.log(await table(rows));
 * ```
 */
export async function bench(options: BenchOptions = {}): Promise<BenchResult> {
  const { benchOptions, observerOf } = await import("./run_options.ts");
  const { selecting, settings, signal, ...rest } = benchOptions(options);
  const [{ select }, { sweep }, toFlat] = await Promise.all([
    import("../select.ts"),
    import("../sweep.ts"),
    flattener(),
  ]);
  const observer = observerOf(rest.onEvent, toFlat);
  const selected = await select(selecting);
  for (const note of selected.notes) observer.note(note);
  const { rows, paths } = await sweep(selected, settings, {
    ...rest,
    signal,
    observer,
  });
  return { rows: rows.map(toFlat), paths, stopped: signal.aborted };
}

/** The outcome of {@linkcode check}. */
export interface CheckResult {
  /** One for each case: its status is `checked` where it is right. */
  readonly rows: readonly FlatRow[];
  /** Whether it was stopped by its signal before all was checked. */
  readonly stopped: boolean;
}

/**
 * Checks kernels without timing them: at the sizes of `axes`, else at those of their suites and at
 * edge-case shapes.
 *
 * @throws {UserError} For options that are wrong, no usable device, no case.
 */
export async function check(options: CheckOptions = {}): Promise<CheckResult> {
  const { checkOptions, observerOf } = await import("./run_options.ts");
  const { selecting, settings, signal, timeout, onEvent } = checkOptions(
    options,
  );
  const [{ checkCases }, toFlat] = await Promise.all([
    import("./check_cases.ts"),
    flattener(),
  ]);
  const observer = observerOf(onEvent, toFlat);
  const { rows } = await checkCases(selecting, {
    settings,
    signal,
    timeout,
    observer,
  });
  return { rows: rows.map(toFlat), stopped: signal.aborted };
}

async function flattener() {
  const [{ flatRow }, { recordOf }] = await Promise.all([
    import("../../bench/row/flat_row.ts"),
    import("../../bench/row/csv.ts"),
  ]);
  return (row: Parameters<typeof recordOf>[0]): FlatRow =>
    flatRow(recordOf(row));
}

/**
 * Reads the rows of CSVs, of folders of them, and of globs of either.
 *
 * @throws {UserError} For a path that leads to no CSV, with file, line and column for what is no row,
 * and for a case on a device that is there twice.
 */
export async function readRows(
  paths: string | readonly string[],
): Promise<readonly FlatRow[]> {
  const [read, { flatRow }] = await Promise.all([
    import("../read_rows.ts"),
    import("../../bench/row/flat_row.ts"),
  ]);
  const rows = await read.readRows([paths].flat());
  return rows.map(({ row }) => flatRow(row));
}

/** The options of {@linkcode diff}. */
export interface DiffOptions extends Judging {
  /** The verdicts for which `fails` of a row is true. @default {those of the command} */
  readonly failOn?: readonly Verdict[];
  /** The verdicts of the rows that are listed. @default {all} */
  readonly only?: readonly Verdict[];
}

/**
 * Compares the rows of CSVs, folders or globs: one verdict for each case.
 *
 * @throws {UserError} For options that are wrong, what cannot be read, and sides without a row.
 */
export async function diff(
  base: string | readonly string[],
  next: string | readonly string[],
  options: DiffOptions = {},
): Promise<DiffData> {
  const [
    { compareRows, FAIL_ON },
    { diffData },
    { VERDICTS },
    { checked, diffSchema, sidesSchema },
  ] = await Promise.all([
    import("./compare_rows.ts"),
    import("../../report/diff/machine.ts"),
    import("../../report/diff/verdict.ts"),
    import("./run_options.ts"),
  ]);
  const { failOn, only, ...judging } = checked(diffSchema, options, "diff");
  const sources = checked(sidesSchema, { base, next }, "diff");
  const found = await compareRows({ ...sources, ...judging });
  return diffData(found, {
    failOn: failOn ?? FAIL_ON,
    only: only ?? VERDICTS,
    fold: false,
  });
}

/** The options of {@linkcode table}. */
export interface TableOptions {
  /** The figures: of several, each is a column and each kernel a line. @default {["us"]} */
  readonly metrics?: readonly (
    "us" | "tflops" | "gbps" | "sol" | "score" | "speedup"
  )[];
  /** The kernel that speed-ups are relative to. @default {that of the suite} */
  readonly baseline?: string;
  /** Rows of this timer. @default {of each suite, the one with the most rows} */
  readonly timer?: string;
  /** @default {"text"} */
  readonly format?: "text" | "md";
  /** Columns of the screen: kernels that do not fit are counted. @default {Infinity} */
  readonly width?: number;
  /** @default {false} */
  readonly color?: boolean;
}

/**
 * Formats a table for each suite and device of `rows`: points down, kernels across.
 *
 * @throws {UserError} For rows and options that are wrong.
 */
export async function table(
  rows: readonly FlatRow[],
  options: TableOptions = {},
): Promise<string> {
  const [
    flat,
    timing,
    { pivots },
    sheets,
    { tableSheet },
    { baselinesOf },
    { UserError },
    { checked, rowsSchema, tableSchema },
  ] = await Promise.all([
    import("../../bench/row/flat_row.ts"),
    import("../../report/model/timing.ts"),
    import("../../report/model/pivot.ts"),
    import("../../report/table/sheet.ts"),
    import("../../report/table/table.ts"),
    import("./baselines.ts"),
    import("../../bench/model/errors.ts"),
    import("./run_options.ts"),
  ]);
  const { metrics, baseline, timer, format, ...screen } = checked(
    tableSchema,
    options,
    "table",
  );
  const { rows: all } = checked(rowsSchema, { rows }, "table");
  const kernels = new Set(all.map(({ kernel }) => kernel));
  if (baseline !== undefined && !kernels.has(baseline)) {
    throw new UserError(
      `Cannot table: no kernel of the rows is named ${baseline}: there are ${
        [...kernels].join(", ") || "none"
      }`,
    );
  }
  const timed = all.filter(({ status }) => status !== "checked");
  const shown = timing.ofOneTiming(timed.map(flat.csvRow), (row) => row, {
    timer,
  });
  const tables = pivots(shown, {
    baselines: (suite) => baselinesOf(suite, { baseline }),
  });
  return tables.map((one) => {
    const sheet = tableSheet(one, { metrics });
    const lines = format === "md"
      ? sheets.formatMarkdown(sheet)
      : sheets.formatText(sheet, screen);
    return `${lines.join("\n")}\n`;
  }).join("\n");
}
