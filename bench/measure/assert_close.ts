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
import { precisionOf, type Terms } from "./precision.ts";

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
  readonly right: Float64Array;
}

/** Compares one output with its reference. */
export function compare(
  { operand, bytes, right }: Output,
  tolerance: Tolerance,
): Comparison {
  const { rtol, atol } = tolerance;
  const { rows, cols, ld, name, type } = operand;
  const values = decode(bytes, type);
  let [mismatches, missing, square, norm] = [0, 0, 0, 0];
  const worst = {
    abs: { value: 0, at: 0 },
    rel: { value: 0, at: 0 },
  };
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) {
      const [got, want] = [values[i * ld + j]!, right[i * cols + j]!];
      const abs = Math.abs(got - want);
      if (!isClose(got, want, tolerance)) mismatches++;
      if (Number.isNaN(got)) {
        if (!Number.isNaN(want)) missing++;
        continue;
      }
      const rel = abs / Math.abs(want);
      if (abs > worst.abs.value) worst.abs = { value: abs, at: i * cols + j };
      if (rel > worst.rel.value && Number.isFinite(rel)) {
        worst.rel = { value: rel, at: i * cols + j };
      }
      square += abs * abs;
      norm += want * want;
    }
  }
  const accuracy: Accuracy = {
    max_abs_err: missing ? NaN : worst.abs.value,
    max_rel_err: missing ? NaN : worst.rel.value,
    rel_l2_err: missing
      ? NaN
      : norm > 0
      ? Math.sqrt(square / norm)
      : Math.sqrt(square),
    mismatches,
  };
  const at = (index: number) =>
    `(${Math.floor(index / cols)}, ${index % cols})`;
  if (missing) return { accuracy, wrong: unwrittenNote(operand, missing) };
  if (mismatches) {
    const percent = (100 * mismatches / (rows * cols)).toPrecision(3);
    const { abs, rel } = worst;
    const place = Math.floor(abs.at / cols) * ld + abs.at % cols;
    const pair = [values[place]!, right[abs.at]!] as const;
    return {
      accuracy,
      wrong: `${name}: ${mismatches} of ${
        rows * cols
      } elements mismatch (${percent} %); greatest absolute difference ${
        short(abs.value)
      } at ${at(abs.at)}, ${digits(pair[0])} instead of ${
        digits(pair[1])
      } (up to ${atol} allowed), greatest relative ${short(rel.value)} at ${
        at(rel.at)
      } (up to ${rtol} allowed), relative L2 ${short(accuracy.rel_l2_err)}`,
    };
  }
  const padding = touchedPadding(operand, bytes);
  return padding === undefined ? { accuracy } : {
    accuracy,
    wrong:
      `${name}: wrote past the end of row ${padding}, into the padding up to ld = ${ld}`,
  };
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
  const { cols, ld, type } = operand;
  const size = BYTES[type];
  const gathered = new Uint8Array(indices.length * size);
  for (const [i, index] of indices.entries()) {
    const at = (Math.floor(index / cols) * ld + index % cols) * size;
    gathered.set(bytes.subarray(at, at + size), i * size);
  }
  const got = decode(gathered, type);
  const row = { ...operand, rows: 1, cols: got.length, ld: got.length };
  return {
    accuracy: compare({ operand: row, bytes: gathered, right }, tolerance)
      .accuracy,
    wrong: indices.flatMap((index, i) =>
      isClose(got[i]!, right[i]!, tolerance)
        ? []
        : [{ index, got: got[i]!, want: right[i]! }]
    ),
  };
}

/** Returns whether `got` is right. NaN never is. */
export function isClose(
  got: number,
  want: number,
  { rtol, atol }: Tolerance,
): boolean {
  return Math.abs(got - want) <= atol + rtol * Math.abs(want);
}

/** Formats where an element is wrong, on one line. */
export function mismatchNote(
  { name, cols }: Operand,
  { index, got, want }: Mismatch,
): string {
  const place = `(${Math.floor(index / cols)}, ${index % cols})`;
  return `${name} ${place} is ${digits(got)} instead of ${digits(want)}`;
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
  const { rows, cols, ld, type } = operand;
  const values = decode(bytes, type);
  let missing = 0;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) {
      if (Number.isNaN(values[i * ld + j]!)) missing++;
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
): number | undefined {
  const size = BYTES[type];
  for (let i = 0; i < rows; i++) {
    for (let b = (i * ld + cols) * size; b < (i + 1) * ld * size; b++) {
      if (bytes[b] !== POISON) return i;
    }
  }
}

/** The byte that outputs, padding and guard bands start as: NaN in every float type. */
export const POISON = 0xff;

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
