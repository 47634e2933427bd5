/**
 * Plans changes of a problem's inputs, and makes the same changes on the device and on the host.
 *
 * A kernel that remembers results must not be able to predict a change, so changes are chosen by the
 * system's random numbers. Some changes replace whole inputs, others a few elements.
 *
 * @module
 */

import type { Memory } from "../device/queue.ts";
import { BYTES, decode, type DType, encode } from "../model/dtype.ts";
import { elementsOf, type Operand, storedBytes } from "../model/problem.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns a whole number from 0 to `n` - 1. */
export type Below = (n: number) => number;

/** Returns a source of the system's random numbers, which a kernel cannot predict. */
export function systemRandom(): Below {
  const words = new Uint32Array(256);
  let at = words.length;
  return (n) => {
    if (at === words.length) {
      crypto.getRandomValues(words);
      at = 0;
    }
    return Math.floor(words[at++]! / 2 ** 32 * n);
  };
}

/** An input as it is stored on the device. */
export interface StoredInput {
  readonly operand: Operand;
  /** Returns a copy of the `count` bytes at byte `offset`, which are within one element. */
  read(offset: number, count: number): Bytes;
}

/** A change of the input number `input`. */
export type Change =
  /** Rotates the input: the original bytes from byte `turn` on come first, then those before it. */
  | { readonly kind: "turn"; readonly input: number; readonly turn: number }
  /** Writes `bytes` at byte `offset`, where element (`row`, `col`) is. */
  | {
    readonly kind: "patch";
    readonly input: number;
    readonly offset: number;
    readonly bytes: Bytes;
    readonly row: number;
    readonly col: number;
  };

/** Options of a change. */
export interface ChangeOptions {
  readonly below: Below;
  /** Whether whole inputs are replaced: they are rotated. */
  readonly whole: boolean;
  /** The absolute value of a new element, in units of the input's root mean square. */
  readonly gain: number;
}

/** The most elements of an input that a patch replaces. */
const MOST_PATCHES = 4;
/** The number of elements from which the root mean square of an input is estimated. */
const SAMPLE = 256;
/** The largest value of a patch in types of a small range. */
const LARGEST: Readonly<Partial<Record<DType, number>>> = {
  f16: 8192,
  e4m3: 448,
  e5m2: 8192,
};
const FLOATS: ReadonlySet<DType> = new Set(
  ["f64", "f32", "f16", "bf16", "e4m3", "e5m2"],
);

/**
 * Returns the numbers of the inputs that may change. Inputs of signed integers may not: they are
 * positions.
 */
export function changeable(inputs: readonly StoredInput[]): readonly number[] {
  return inputs.flatMap(({ operand: { type, rows, cols } }, i) =>
    type !== "i32" && rows * cols > 0 ? [i] : []
  );
}

/**
 * Plans a change of the inputs whose numbers are `which`. Inputs that cannot be rotated are
 * patched.
 */
export function planChange(
  inputs: readonly StoredInput[],
  which: readonly number[],
  options: ChangeOptions,
): readonly Change[] {
  const turns = options.whole
    ? which.flatMap((i) => turnOf(inputs[i]!, i, options.below))
    : [];
  return turns.length > 0
    ? turns
    : which.flatMap((i) => patchesOf(inputs[i]!, i, options));
}

function turnOf(
  { operand }: StoredInput,
  input: number,
  below: Below,
): Change[] {
  const { unit, units } = turnsOf(operand);
  if (units < 2) return [];
  return [{ kind: "turn", input, turn: unit * (1 + below(units - 1)) }];
}

/**
 * Returns the unit in bytes by whose multiples an input may be rotated, and the number of units in
 * it.
 */
export function turnsOf(
  operand: Operand,
): { readonly unit: number; readonly units: number } {
  const { cols, ld, rows, type } = operand;
  // One unit: positions are not rotated.
  if (type === "i32") return { unit: storedBytes(operand), units: 1 };
  // An input with padding is rotated by whole rows, so that its padding stays in place.
  return ld === cols
    ? { unit: BYTES[type], units: elementsOf(operand) }
    : { unit: BYTES[type] * ld, units: rows };
}

function patchesOf(
  stored: StoredInput,
  input: number,
  { below, gain }: ChangeOptions,
): Change[] {
  const { rows, cols, ld, type } = stored.operand;
  const size = BYTES[type];
  const value = FLOATS.has(type) ? far(stored, gain) : undefined;
  // All patches are in one row, in one column, or anywhere.
  const [row, col] = [[below(rows)], [undefined, below(cols)], []][below(3)]!;
  return Array.from({ length: 1 + below(MOST_PATCHES) }, (): Change => {
    const place = { row: row ?? below(rows), col: col ?? below(cols) };
    const offset = (place.row * ld + place.col) * size;
    const other = (below(rows) * ld + below(cols)) * size;
    const bytes = value ? value(offset) : stored.read(other, size);
    return { kind: "patch", input, offset, bytes, ...place };
  });
}

/**
 * Returns a function that makes the new bytes of an element: `gain` times the root mean square, with the
 * opposite sign of the original value. If no value of the input is negative, as in scales, the new one
 * is positive too.
 */
function far(
  stored: StoredInput,
  gain: number,
): (offset: number) => Bytes {
  const { operand: { type } } = stored;
  const known = sizes.get(stored) ?? sizeOf(stored);
  sizes.set(stored, known);
  const { usual, signed } = known;
  const large = Math.min(gain * usual, LARGEST[type] ?? Infinity);
  return (offset) =>
    encode([signed && valueAt(stored, offset) > 0 ? -large : large], type);
}

interface Size {
  /** The root mean square of the values. */
  readonly usual: number;
  readonly signed: boolean;
}

/** The sizes of inputs by input. They are kept, because finding one takes 0.1 ms. */
const sizes = new WeakMap<StoredInput, Size>();

function sizeOf(stored: StoredInput): Size {
  const { rows, cols, ld, type } = stored.operand;
  const count = Math.min(SAMPLE, rows * cols);
  let square = 0;
  let signed = false;
  for (let i = 0; i < count; i++) {
    const at = Math.floor(i * rows * cols / count);
    const place = Math.floor(at / cols) * ld + at % cols;
    const x = valueAt(stored, place * BYTES[type]);
    if (Number.isFinite(x)) square += x * x;
    signed ||= x < 0;
  }
  return { usual: Math.sqrt(square / count) || 1, signed };
}

function valueAt(stored: StoredInput, offset: number): number {
  const { type } = stored.operand;
  return decode(stored.read(offset, BYTES[type]), type)[0]!;
}

/** A copy of bytes from the original. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

/** Returns the copies that rotate `length` bytes by `turn`. */
export function piecesOf(turn: number, length: number): readonly Piece[] {
  return [
    { from: turn, to: 0, bytes: length - turn },
    { from: 0, to: length - turn, bytes: turn },
  ].filter(({ bytes }) => bytes > 0);
}

/** Queues `change` of `input`. @returns The number of copies. */
export function changeOnDevice(
  change: Change,
  { input, original, turned, patch }: {
    readonly input: Memory;
    /** Bytes whose rotation by `turned` is the original input; a patch needs none. */
    readonly original: Memory | undefined;
    readonly turned: number;
    /** The bytes of a patch; a rotation needs none. */
    readonly patch: Memory | undefined;
  },
): number {
  if (change.kind === "patch") {
    input.slice(change.offset, change.bytes.length).copyFrom(patch!);
    return 1;
  }
  const turn = (turned + change.turn) % input.bytes;
  const pieces = piecesOf(turn, input.bytes);
  for (const { from, to, bytes } of pieces) {
    input.slice(to, bytes).copyFrom(original!.slice(from, bytes));
  }
  return pieces.length;
}

/**
 * Makes `change` on the host.
 *
 * @param now The present bytes of each input, which are overwritten; undefined stands for the original.
 * @param originals The original bytes of each input.
 */
export function changeOnHost(
  change: Change,
  now: (Bytes | undefined)[],
  originals: readonly Bytes[],
): void {
  const { input } = change;
  const original = originals[input]!;
  if (change.kind === "patch") {
    (now[input] ??= original.slice()).set(change.bytes, change.offset);
  } else if (change.turn === 0) now[input] = undefined;
  else {
    now[input] ??= new Uint8Array(original.length);
    rotateInto(now[input], original, change.turn);
  }
}

/** Fills `to` with the bytes of `from` from byte `turn` on, then with those before it. */
export function rotateInto(to: Bytes, from: Bytes, turn: number): Bytes {
  to.set(from.subarray(turn));
  to.set(from.subarray(0, turn), from.length - turn);
  return to;
}
