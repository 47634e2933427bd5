/**
 * What rows are called: no longer than they must be to be told apart.
 *
 * @module
 */

import type { Table } from "./table.ts";

/** Columns of the key and the place in which rows of one family do not differ. */
export const FAMILY: readonly string[] = [
  "suite",
  "op",
  "a_type",
  "b_type",
  "c_type",
  "acc_type",
  "layout",
  "params",
  "device",
  "arch",
];

/** Where a row was measured; published figures are others', and never beside ours. */
export function deviceOf(table: Table, row: number): string {
  const device = table.text("device", row);
  return table.text("harness", row) === "published"
    ? `${device} (published: ${table.text("run", row)})`
    : device;
}

/** Names of kernels and shapes. */
export class Labels {
  readonly #varying = new Map<string, readonly string[]>();
  readonly #backends = new Map<string, Set<string>>();

  /** @param tables All rows that will be named. */
  constructor(tables: readonly Table[]) {
    const shown = FAMILY.filter((c) => !["suite", "device"].includes(c));
    const first = new Map<string, readonly string[]>();
    for (const table of tables) {
      for (let row = 0; row < table.rows; row++) {
        const name = nameOf(table, row);
        const known = this.#backends.get(name) ?? new Set();
        this.#backends.set(name, known.add(table.text("backend", row)));
        const place = placeOf(table, row);
        const own = shown.map((column) => table.text(column, row));
        const other = first.get(place) ?? own;
        first.set(place, other);
        const varying = this.#varying.get(place) ?? [];
        const more = shown.filter((column, i) =>
          own[i] !== other[i] && !varying.includes(column)
        );
        if (more.length > 0) this.#varying.set(place, [...varying, ...more]);
      }
    }
  }

  /** The kernel, with its backend where another one has the same name. */
  kernel(table: Table, row: number): string {
    const kernel = table.text("kernel", row);
    const several = (this.#backends.get(nameOf(table, row))?.size ?? 0) > 1;
    return several ? `${kernel} (${table.text("backend", row)})` : kernel;
  }

  /** The size, and what else differs between rows of the suite on the device. */
  shape(
    table: Table,
    row: number,
  ): { readonly size: string; readonly extra: string } {
    const varying = this.#varying.get(placeOf(table, row)) ?? [];
    return {
      size: ["m", "n", "k"].map((c) => table.text(c, row)).join("×"),
      extra: varying.map((column) => table.text(column, row))
        .filter((text) => text !== "").join(" "),
    };
  }
}

function placeOf(table: Table, row: number): string {
  return `${table.text("suite", row)}|${table.text("device", row)}`;
}

function nameOf(table: Table, row: number): string {
  return `${deviceOf(table, row)}|${table.text("kernel", row)}`;
}
