/**
 * Plans changes of a problem's inputs, and makes them on the device and on the host alike.
 *
 * A kernel that remembers results must not foresee or overlook a change: what is changed comes from
 * the system's random numbers. Some changes replace whole inputs, others a few elements.
 *
 * @module
 */

import type { Memory } from "../device/queue.ts";
import { BYTES, decode, type DType, encode } from "../model/dtype.ts";
import { elementsOf, type Operand, storedBytes } from "../model/problem.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns a whole number from 0 to `n` - 1. */
export type Below = (n: number) => number;

/** Makes a source of numbers from those of the system, which a kernel cannot repeat. */
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
  /** Returns a copy of `count` bytes of an element from byte `offset` on. */
  read(offset: number, count: number): Bytes;
}

/** A change of input number `input`. */
export type Change =
  /** The original bytes from byte `turn` on, then those before it. */
  | { readonly kind: "turn"; readonly input: number; readonly turn: number }
  /** Other bytes at byte `offset`, which is element (`row`, `col`). */
  | {
    readonly kind: "patch";
    readonly input: number;
    readonly offset: number;
    readonly bytes: Bytes;
    readonly row: number;
    readonly col: number;
  };

/** The wishes for a change. */
export interface ChangeOptions {
  readonly below: Below;
  /** Whether whole inputs are replaced, by their own elements in another order. */
  readonly whole: boolean;
  /** Root mean squares that a new element is away from zero. */
  readonly gain: number;
}

/** Elements of an input that one change replaces at most. */
const MOST_PATCHES = 4;
/** Elements from which the size of an input's values is estimated. */
const SAMPLE = 256;
/** The largest value of types that cannot hold any. */
const LARGEST: Readonly<Partial<Record<DType, number>>> = {
  f16: 8192,
  e4m3: 448,
  e5m2: 8192,
};
const FLOATS: ReadonlySet<DType> = new Set(
  ["f64", "f32", "f16", "bf16", "e4m3", "e5m2"],
);

/** Returns the numbers of the inputs that may have other values: signed integers are positions. */
export function changeable(inputs: readonly StoredInput[]): readonly number[] {
  return inputs.flatMap(({ operand: { type, rows, cols } }, i) =>
    type !== "i32" && rows * cols > 0 ? [i] : []
  );
}

/** Plans one change of the inputs `which` of `inputs`. */
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

/** Returns the bytes by whose multiples an input may be turned, and how often they are in it. */
export function turnsOf(
  operand: Operand,
): { readonly unit: number; readonly units: number } {
  const { cols, ld, rows, type } = operand;
  // Positions stay what they are.
  if (type === "i32") return { unit: storedBytes(operand), units: 1 };
  // Padding stays where it is.
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
  // In a row, in a column, or anywhere.
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
 * Makes values `gain` times as large as is usual, of the other sign than what is there. Scales
 * have no sign: where no value is negative, none becomes so.
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

/** Sizes of inputs, whose original values stay: to read so many takes 0.1 ms a change. */
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

/** Bytes that are copied from the original. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

/** Returns the copies that turn `length` bytes by `turn`. */
export function piecesOf(turn: number, length: number): readonly Piece[] {
  return [
    { from: turn, to: 0, bytes: length - turn },
    { from: 0, to: length - turn, bytes: turn },
  ].filter(({ bytes }) => bytes > 0);
}

/** Queues `change` of `input`. Returns the number of copies. */
export function changeOnDevice(
  change: Change,
  { input, original, turned, patch }: {
    readonly input: Memory;
    /** As {@linkcode Change} says; not needed for a patch. */
    readonly original: Memory | undefined;
    /** Bytes by which `original` must be turned first. */
    readonly turned: number;
    /** The bytes of a patch; not needed for a turn. */
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
 * Makes `change` of the inputs `now`, of which `originals` are the first state: missing ones are
 * as there, the others are copies, which are overwritten.
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

/** Fills `to` with `from` from byte `turn` on, then with what is before it. */
export function rotateInto(to: Bytes, from: Bytes, turn: number): Bytes {
  to.set(from.subarray(turn));
  to.set(from.subarray(0, turn), from.length - turn);
  return to;
}
