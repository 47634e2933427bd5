/**
 * Rows as the page works with them: one entry for each case of either run.
 *
 * @module
 */

import { deviceOf, FAMILY, Labels } from "./labels.ts";
import { isSuspect } from "../../model/sol.ts";
import { fieldOf, Table } from "./table.ts";
import type { PageData } from "./page_data.ts";

/** A case: its row in this run, and in the other where there is one. */
export interface Entry {
  readonly id: number;
  /** Row of this run; nothing where only the other has the case. */
  readonly now: number | undefined;
  readonly base: number | undefined;
  readonly suite: string;
  readonly device: string;
  readonly kernel: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** What else of the key differs between rows of the suite. */
  readonly extra: string;
  /** Size and `extra`, for people. */
  readonly shape: string;
  /** Equal for entries that differ in size and kernel only. */
  readonly family: string;
  /** Equal for entries that differ in kernel only: those are compared. */
  readonly problem: string;
  /** `missing` where only the other run has the case, else as in the CSV. */
  readonly status: string;
  readonly note: string;
  /** Microseconds; nothing where the case has no timing. */
  readonly median: number | undefined;
  readonly q1: number | undefined;
  readonly q3: number | undefined;
  /** The speed of light. */
  readonly sol: number | undefined;
  /** Above the speed of light (SOL) with a cold cache: no record, and no part of a mean. */
  readonly suspect: boolean;
  /** Microseconds in the other run. */
  readonly before: number | undefined;
  /** The same of the row in the other run. */
  readonly suspectBefore: boolean;
  readonly verdict: string;
  readonly why: string;
}

/** The two runs and their cases. */
export interface Book {
  readonly now: Table;
  readonly base: Table | undefined;
  readonly entries: readonly Entry[];
  /** Labels of kernels in the order of the rows, which is not that of the cases. */
  readonly kernels: readonly string[];
  readonly wire: PageData;
}

/** The cases of `wire`. */
export function bookOf(wire: PageData): Book {
  const now = new Table(wire.run);
  const base = wire.against && new Table(wire.against);
  const labels = new Labels([now, ...(base ? [base] : [])]);
  const { pairs } = wire;
  const length = pairs?.now.length ?? now.rows;
  const entries = Array.from({ length }, (_, id): Entry => {
    const rows = {
      now: found(pairs ? pairs.now[id] : id),
      base: found(pairs?.base[id]),
    };
    return entryOf(id, {
      ...rows,
      tables: { now, base },
      labels,
      verdict: fieldOf(pairs?.verdict, id),
      why: fieldOf(pairs?.why, id),
    });
  });
  const place = ({ now: row, base }: Entry) => row ?? now.rows + (base ?? 0);
  const kernels = [
    ...new Set(
      entries.toSorted((a, b) => place(a) - place(b)).map((e) => e.kernel),
    ),
  ];
  return { now, base, entries, kernels, wire };
}

function found(row: number | undefined): number | undefined {
  return row === undefined || row < 0 ? undefined : row;
}

interface Source {
  readonly now: number | undefined;
  readonly base: number | undefined;
  readonly tables: { readonly now: Table; readonly base: Table | undefined };
  readonly labels: Labels;
  readonly verdict: string;
  readonly why: string;
}

function entryOf(id: number, source: Source): Entry {
  const { now, base, tables, labels } = source;
  const [table, row] = now === undefined
    ? [tables.base!, base!]
    : [tables.now, now];
  const status = now === undefined ? "missing" : table.text("status", row);
  const figure = (column: string) =>
    status === "ok" ? table.number(column, row) : undefined;
  const { extra, size } = labels.shape(table, row);
  const device = deviceOf(table, row);
  const family = FAMILY.map((column) =>
    column === "device" ? device : table.text(column, row)
  ).join("|");
  const time = (of: Table, at: number) =>
    of.text("status", at) !== "ok"
      ? undefined
      // Who published a mean alone is shown with it.
      : of.number("median_us", at) ?? of.number("mean_us", at);
  const median = now === undefined ? undefined : time(table, row);
  const before = base === undefined ? undefined : time(tables.base!, base);
  const sol = figure("sol_us");
  return {
    id,
    now,
    base,
    suite: table.text("suite", row),
    device,
    kernel: labels.kernel(table, row),
    m: table.number("m", row) ?? 0,
    n: table.number("n", row) ?? 0,
    k: table.number("k", row) ?? 0,
    extra,
    shape: extra === "" ? size : `${size} ${extra}`,
    family,
    problem: `${family}|${size}`,
    status,
    note: table.text("note", row),
    median,
    q1: figure("q1_us"),
    q3: figure("q3_us"),
    sol,
    suspect: isSuspect({
      cache: table.text("cache", row),
      time_us: median,
      sol_us: sol,
    }),
    before,
    suspectBefore: base !== undefined && isSuspect({
      cache: tables.base!.text("cache", base),
      time_us: before,
      sol_us: tables.base!.number("sol_us", base),
    }),
    verdict: source.verdict,
    why: source.why,
  };
}
