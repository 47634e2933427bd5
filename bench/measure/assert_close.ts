/**
 * Compares a kernel's output with the expected values.
 *
 * Every element is compared as torch.testing.assert_close does: |out - ref| ≤ atol +
 * rtol·|ref|, but NaN is never right.
 *
 * @module
 */

import { BYTES, decode } from "../model/dtype.ts";
import type { Operand, Tolerance } from "../model/problem.ts";
import type { Accuracy } from "../row/row.ts";
import type { Below } from "./changes.ts";
import { type Numbers, precisionOf, type Terms } from "./precision.ts";

/** The outcome of a comparison. */
export interface Comparison {
  readonly accuracy: Accuracy;
  /** The first error, on one line; missing where all is right. */
  readonly wrong?: string;
}

/** The inputs of a comparison. */
export interface Output {
  readonly operand: Operand;
  /** As stored, padding included. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** `rows × cols` values, without padding. */
  readonly right: Numbers;
  /** What its padding was filled with. @default {POISON} */
  readonly poison?: number;
}

/** Elements that are numbers at a time. */
const AT_ONCE = 1 << 16;

/** Yields the values of rows of `operand`, and the first of these rows. */
function* rowsOf(
  { rows, ld, type }: Operand,
  bytes: Uint8Array<ArrayBuffer>,
): Generator<{ readonly first: number; readonly values: Float64Array }> {
  const some = Math.max(1, Math.floor(AT_ONCE / ld));
  const size = ld * BYTES[type];
  for (let first = 0; first < rows; first += some) {
    const end = Math.min(rows, first + some);
    const values = decode(bytes.subarray(first * size, end * size), type);
    yield { first, values };
  }
}

/** Compares one output with its reference. */
export function compare(
  { operand, bytes, right, poison = POISON }: Output,
  tolerance: Tolerance,
): Comparison {
  const { cols, ld } = operand;
  // Not destructured from an array, which would make them heap numbers.
  let mismatches = 0;
  let missing = 0;
  let square = 0;
  let norm = 0;
  let mostAbs = 0;
  let absAt = 0;
  let mostRel = 0;
  let relAt = 0;
  for (const { first, values } of rowsOf(operand, bytes)) {
    const count = values.length / ld;
    for (let i = 0; i < count; i++) {
      const own = i * ld;
      const start = (first + i) * cols;
      for (let j = 0; j < cols; j++) {
        const got = values[own + j]!;
        const want = right[start + j]!;
        const abs = errorOf(got, want);
        if (!isWithin(abs, want, tolerance)) mismatches++;
        if (got !== got) {
          if (want === want) missing++;
          continue;
        }
        if (abs > mostAbs) {
          mostAbs = abs;
          absAt = start + j;
        }
        const rel = abs / Math.abs(want);
        if (rel > mostRel && rel < Infinity) {
          mostRel = rel;
          relAt = start + j;
        }
        square += abs * abs;
        norm += want * want;
      }
    }
  }
  const accuracy: Accuracy = {
    max_abs_err: missing ? NaN : mostAbs,
    max_rel_err: missing ? NaN : mostRel,
    rel_l2_err: missing
      ? NaN
      : norm > 0
      ? Math.sqrt(square / norm)
      : Math.sqrt(square),
    mismatches,
  };
  if (missing) return { accuracy, wrong: unwrittenNote(operand, missing) };
  if (mismatches) {
    const wrong = mismatchesNote({ operand, bytes, right }, {
      accuracy,
      tolerance,
      mostAbs,
      absAt,
      mostRel,
      relAt,
    });
    return { accuracy, wrong };
  }
  const padding = touchedPadding(operand, bytes, poison);
  return padding === undefined ? { accuracy } : {
    accuracy,
    wrong: paddingNote(operand, padding),
  };
}

/** Describes the mismatches of an output: their number, and the places of the greatest differences. */
function mismatchesNote(
  { operand, bytes, right }: Output,
  { accuracy, tolerance: { rtol, atol }, mostAbs, absAt, mostRel, relAt }: {
    readonly accuracy: Accuracy;
    readonly tolerance: Tolerance;
    /** The greatest absolute difference, and the index of its element. */
    readonly mostAbs: number;
    readonly absAt: number;
    /** The greatest relative difference, likewise. */
    readonly mostRel: number;
    readonly relAt: number;
  },
): string {
  const { rows, cols, ld, name, type } = operand;
  const { mismatches, rel_l2_err } = accuracy;
  const all = rows * cols;
  const percent = (100 * mismatches / all).toPrecision(3);
  const [row, column] = placeOf(operand, absAt);
  const place = row * ld + column;
  const size = BYTES[type];
  const [got] = decode(
    bytes.subarray(place * size, (place + 1) * size),
    type,
  ) as Float64Array & [number];
  const at = (index: number) => placeText(operand, index);
  return [
    `${name}: ${mismatches} of ${all} elements mismatch (${percent} %); greatest absolute difference ${
      short(mostAbs)
    } at ${at(absAt)}`,
    `${digits(got)} instead of ${
      digits(right[absAt]!)
    } (up to ${atol} allowed)`,
    `greatest relative ${short(mostRel)} at ${
      at(relAt)
    } (up to ${rtol} allowed)`,
    `relative L2 ${short(rel_l2_err)}`,
  ].join(", ");
}

/** An element that is wrong. */
export interface Mismatch {
  readonly index: number;
  readonly got: number;
  readonly want: number;
}

/** Compares the elements `indices` of an output, of which `right` are the expected values. */
export function compareAt(
  { operand, bytes, right }: Output,
  indices: readonly number[],
  tolerance: Tolerance,
): { readonly accuracy: Accuracy; readonly wrong: readonly Mismatch[] } {
  const row = rowOf({ operand, bytes }, indices);
  const got = decode(row.bytes, operand.type);
  return {
    accuracy: compare({ ...row, right }, tolerance).accuracy,
    wrong: indices.flatMap((index, i) =>
      isClose(got[i]!, right[i]!, tolerance)
        ? []
        : [{ index, got: got[i]!, want: right[i]! }]
    ),
  };
}

/** Returns the elements `indices` of an output as one row. */
export function rowOf(
  { operand, bytes }: Pick<Output, "operand" | "bytes">,
  indices: readonly number[],
): Pick<Output, "operand" | "bytes"> {
  const { ld, type } = operand;
  const size = BYTES[type];
  const gathered = new Uint8Array(indices.length * size);
  for (const [i, index] of indices.entries()) {
    const [own, column] = placeOf(operand, index);
    const at = (own * ld + column) * size;
    gathered.set(bytes.subarray(at, at + size), i * size);
  }
  const { length } = indices;
  return {
    operand: { ...operand, rows: 1, cols: length, ld: length },
    bytes: gathered,
  };
}

/** Returns whether `got` is right. NaN never is, and of infinities the same one alone. */
export function isClose(
  got: number,
  want: number,
  tolerance: Tolerance,
): boolean {
  return isWithin(errorOf(got, want), want, tolerance);
}

function isWithin(
  error: number,
  want: number,
  { rtol, atol }: Tolerance,
): boolean {
  return error < Infinity && error <= atol + rtol * Math.abs(want);
}

/** Returns the absolute error, which is 0 between an infinity and itself. */
function errorOf(got: number, want: number): number {
  return got === want ? 0 : Math.abs(got - want);
}

/** Formats where an element is wrong, on one line. */
export function mismatchNote(
  operand: Operand,
  { index, got, want }: Mismatch,
): string {
  const place = placeText(operand, index);
  return `${operand.name} ${place} is ${digits(got)} instead of ${
    digits(want)
  }`;
}

/** Returns the row and the column of element `index` of an output, counted without padding. */
export function placeOf(
  { cols }: Pick<Operand, "cols">,
  index: number,
): readonly [number, number] {
  return [Math.floor(index / cols), index % cols];
}

function placeText(operand: Pick<Operand, "cols">, index: number): string {
  return `(${placeOf(operand, index).join(", ")})`;
}

/** Says that the padding after row `row` was written to. */
export function paddingNote(
  { name, ld }: Pick<Operand, "name" | "ld">,
  row: number,
): string {
  return `${name}: wrote past the end of row ${row}, into the padding up to ld = ${ld}`;
}

/**
 * Compares all outputs of a call: the worst accuracy, and the first error.
 *
 * @param bits The least effective bits; undefined if any number will do.
 */
export function compareAll(
  outputs: readonly (Output & { readonly terms?: Terms | undefined })[],
  tolerance: Tolerance,
  bits?: number,
): Comparison {
  const comparisons = outputs.map((output) => compare(output, tolerance));
  const precision = precisionOf(outputs, bits);
  const accuracy = {
    ...comparisons.map((one) => one.accuracy).reduce(worse),
    // More digits would differ with the order of sums.
    ...(precision.bits === undefined
      ? {}
      : { bits: Math.round(10 * precision.bits) / 10 }),
  };
  const wrong = comparisons.find((one) => one.wrong !== undefined)?.wrong;
  const names = outputs.map(({ operand }) => operand.name).join(", ");
  const coarse = precision.wrong && `${names}: ${precision.wrong}`;
  const both = wrong && coarse && precision.even
    ? `${wrong}; ${coarse}`
    : wrong;
  const what = both ?? coarse;
  return { accuracy, ...(what === undefined ? {} : { wrong: what }) };
}

/** Counts the elements that are NaN, on one line; `undefined` where none is. */
export function unwritten(
  { operand, bytes }: Pick<Output, "operand" | "bytes">,
): string | undefined {
  const { cols, ld } = operand;
  let missing = 0;
  for (const { values } of rowsOf(operand, bytes)) {
    for (let i = 0; i < values.length; i += ld) {
      for (let j = 0; j < cols; j++) {
        const value = values[i + j]!;
        if (value !== value) missing++;
      }
    }
  }
  return missing ? unwrittenNote(operand, missing) : undefined;
}

function unwrittenNote({ name, rows, cols }: Operand, missing: number): string {
  return `${name}: ${missing} of ${
    rows * cols
  } elements are NaN: left unwritten, or computed from what is not an input`;
}

/** The first row whose padding is no longer poison. */
function touchedPadding(
  { rows, cols, ld, type }: Operand,
  bytes: Uint8Array<ArrayBuffer>,
  poison: number,
): number | undefined {
  if (ld === cols) return undefined;
  const size = BYTES[type];
  for (let i = 0; i < rows; i++) {
    for (let b = (i * ld + cols) * size; b < (i + 1) * ld * size; b++) {
      if (bytes[b] !== poison) return i;
    }
  }
}

/**
 * The byte that outputs, padding and guard bands start as: NaN in every float type, so an element
 * that is not written is never right, and what is computed from padding is NaN. No other byte is NaN
 * in fp32 and bf16.
 */
export const POISON = 0xff;

/**
 * Returns another byte to fill outputs with before a call: a kernel that knows checks by
 * {@linkcode POISON} is checked with this too. Not 0, which is a right output of many operations.
 */
export function otherPoison(below: Below): number {
  return 1 + below(POISON - 1);
}

/** One in so many is NaN. */
const NAN_SHARE = 4;

/** Returns the byte to fill outputs with where they may be any: {@linkcode POISON} or another. */
export function anyPoison(below: Below): number {
  return below(NAN_SHARE) === 0 ? POISON : otherPoison(below);
}

function short(x: number): string {
  return Number(x.toPrecision(4)).toString();
}

/** Formats an fp32 so that different values look different. */
function digits(x: number): string {
  return Number(x.toPrecision(8)).toString();
}

/** The worse of two accuracies, figure by figure, for operations of several outputs. */
export function worse(a: Accuracy, b: Accuracy): Accuracy {
  const bits = [a.bits, b.bits].filter((one) => one !== undefined);
  return {
    ...(bits.length > 0 ? { bits: Math.min(...bits) } : {}),
    max_abs_err: Math.max(a.max_abs_err, b.max_abs_err),
    max_rel_err: Math.max(a.max_rel_err, b.max_rel_err),
    rel_l2_err: Math.max(a.rel_l2_err, b.rel_l2_err),
    mismatches: a.mismatches + b.mismatches,
  };
}
