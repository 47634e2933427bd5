/**
 * Reads CSVs of other programs, digit for digit, and makes rows of our schema. Errors name the
 * row and the column.
 *
 * @module
 */

import { parse } from "@std/csv";
import { brief, UserError } from "../../bench/model/errors.ts";
import { unguarded } from "../../bench/row/csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { COLUMNS, PUBLISHED, SCHEMA } from "../../bench/row/row.ts";
import { TYPE_BYTES } from "./decompose_k_columns.ts";

const WAY_OUT =
  "give a CSV of the decompose-k measurements or of AITER's tuned GEMMs";

/** A CSV of another program. */
export interface Foreign {
  readonly columns: readonly string[];
  readonly records: readonly ForeignRecord[];
}

/** A line of such a CSV. */
export class ForeignRecord {
  readonly #fields: ReadonlyMap<string, string>;

  /**
   * @param file Named in complaints.
   * @param row The header is row 1.
   * @param fields By column.
   */
  constructor(
    readonly file: string,
    readonly row: number,
    fields: ReadonlyMap<string, string>,
  ) {
    this.#fields = fields;
  }

  /** The field in `column`; empty where there is no such column. */
  text(column: string): string {
    return this.#fields.get(column) ?? "";
  }

  /** A field that must be one of `known`, as the value that stands there. */
  one<T>(column: string, known: Readonly<Record<string, T>>): T {
    const text = this.text(column);
    if (Object.hasOwn(known, text)) return known[text]!;
    return this.refuse(column, `not one of ${Object.keys(known).join(", ")}`);
  }

  /** A field that must be a whole number of at least `least`, as it stands. */
  whole(column: string, least = 1): string {
    const text = this.text(column);
    const fits = /^\d{1,15}$/.test(text) && Number(text) >= least;
    if (fits) return `${Number(text)}`;
    return this.refuse(column, `not a whole number of at least ${least}`);
  }

  /**
   * A time in microseconds, digit for digit as it was written; nothing where the field is
   * empty.
   *
   * @param places What the unit is short of microseconds: 3 for milliseconds.
   */
  time(column: string, places: number): string | undefined {
    const text = this.text(column);
    if (text === "") return undefined;
    const us = shiftDecimal(text, places);
    if (us !== undefined && Number(us) > 0 && isFinite(Number(us))) return us;
    return this.refuse(column, "not a time above 0");
  }

  /** Stops the import at this field. */
  refuse(column: string, why: string): never {
    const text = this.text(column);
    throw new UserError(
      `Cannot import ${this.file}: row ${this.row}, column ${column} is ${
        text === "" ? "empty" : brief(text)
      }, ${why}; fix it or take it out`,
    );
  }
}

/**
 * The records of RFC 4180 text.
 *
 * @param file Named in errors.
 * @throws {UserError} For text that is no CSV, is empty, or has a record of another length
 * or a column twice.
 */
export function readForeign(text: string, file: string): Foreign {
  const refuse = (why: string): never => {
    throw new UserError(`Cannot import ${file}: ${why}; ${WAY_OUT}`);
  };
  if (/[\0\uFFFD]/.test(text)) return refuse("it is not text");
  let lines: string[][];
  try {
    lines = parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return refuse(`it is not a CSV (${cause.message})`);
  }
  const [columns, ...rest] = lines;
  if (columns === undefined) return refuse("it is empty");
  const twice = columns.find((name, i) => columns.indexOf(name) < i);
  if (twice !== undefined) return refuse(`it has two columns ${brief(twice)}`);
  if (rest.length === 0) return refuse("it has a header and no rows");
  const records = rest.map((fields, i) => {
    if (fields.length !== columns.length) {
      const last = fields.length < columns.length
        ? columns[fields.length]
        : columns.at(-1);
      refuse(
        `row ${
          i + 2
        } has ${fields.length} fields, not ${columns.length}, and breaks off at column ${
          brief(last!)
        }`,
      );
    }
    const byColumn = columns.map((name, c) =>
      [name, unguarded(fields[c]!)] as const
    );
    return new ForeignRecord(file, i + 2, new Map(byColumn));
  });
  return { columns, records };
}

/**
 * Stops unless `foreign` has every column of `needed`.
 *
 * @throws {UserError} Naming the missing ones.
 */
export function needColumns(
  { columns }: Foreign,
  needed: readonly string[],
  file: string,
): void {
  const missing = needed.filter((column) => !columns.includes(column));
  if (missing.length === 0) return;
  throw new UserError(
    `Cannot import ${file}: row 1 has no column ${
      missing.join(", ")
    }; ${WAY_OUT}`,
  );
}

/**
 * A row with `fields`, the least work of a GEMM and the rates that follow. What
 * is not given is not known, and stays empty.
 */
export function publishedRow(fields: Partial<CsvRow>): CsvRow {
  const blank = Object.fromEntries(COLUMNS.map((column) => [column, ""]));
  const row = {
    ...blank as CsvRow,
    op: "matmul",
    acc_type: "f32",
    status: "ok",
    harness: PUBLISHED,
    schema: `${SCHEMA}`,
    ...fields,
  };
  const [m, n, k] = [Number(row.m), Number(row.n), Number(row.k)];
  const size = (type: string) => TYPE_BYTES[type]!;
  const flops = 2 * m * n * k;
  const bytes = size(row.a_type) * m * k + size(row.b_type) * k * n +
    size(row.c_type) * m * n;
  const us = Number(row.median_us || row.mean_us);
  return {
    ...row,
    flops: `${flops}`,
    bytes: `${bytes}`,
    tflops: `${flops / us / 1e6}`,
    gbps: `${bytes / us / 1e3}`,
  };
}

/**
 * Returns `text` times 10^`places` with the same digits, in the shortest plain notation;
 * undefined for a text that is no decimal number.
 *
 * @example
 * ```ts
 * import { shiftDecimal } from "./foreign.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(shiftDecimal("0.015647999942302704", 3), "15.647999942302704");
 * strictEqual(shiftDecimal("9.6", -3), "0.0096");
 * ```
 */
export function shiftDecimal(text: string, places: number): string | undefined {
  const parts = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (!parts) return undefined;
  const [, sign, whole, fraction, exponent] = parts;
  const digits = `${whole}${fraction}`;
  if (digits === "") return undefined;
  const point = whole!.length + Number(exponent ?? 0) + places;
  const padded = digits.padStart(digits.length - Math.min(0, point - 1), "0")
    .padEnd(point, "0");
  const at = Math.max(1, point);
  const left = padded.slice(0, at).replace(/^0+(?=\d)/, "");
  const right = padded.slice(at).replace(/0+$/, "");
  const minus = sign === "-" ? "-" : "";
  return right === "" ? `${minus}${left}` : `${minus}${left}.${right}`;
}

/**
 * Returns a number from 1e-4 to 1e16 as Python's `repr` prints a float: whole numbers end
 * in `.0`.
 */
export function pythonFloat(plain: string): string {
  return /^-?\d+$/.test(plain) ? `${plain}.0` : plain;
}
