/**
 * Input data from a counter-based generator: element `i` of tensor `t` depends on the
 * seed, `t` and `i` alone, and only on integer arithmetic, so that any language on any
 * device makes the same bits.
 *
 * @module
 */

import { BYTES, type DType, encode } from "./dtype.ts";

/** The distributions of input data. */
export const FILLS = ["normal", "uniform", "integers"] as const;
/**
 * `normal`: a sum of 12 uniforms less 6, standard normal to within its 20 bits, |x| < 6
 * (Irwin–Hall); `uniform`: multiples of 2⁻²⁰ in [-1, 1); `integers`: -4 to 4.
 */
export type Fill = typeof FILLS[number];

/** Selects the inputs of a run. */
export interface InputOptions {
  readonly seed: number;
  readonly fill: Fill;
}

/** A bijection of 32-bit integers with full avalanche (Ellis, "lowbias32", 2018). */
export function mix(x: number): number {
  return mixed(x) >>> 0;
}

/** {@linkcode mix} as a signed number: unsigned ones above 2³¹ are slower. */
function mixed(x: number): number {
  x ^= x >>> 16;
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  return x ^ x >>> 16;
}

const STEP = 0x9e3779b9 | 0;

/**
 * Generates `count` values of tensor number `tensor` from element `from` on. All are multiples
 * of 2⁻²⁰ below 8 in magnitude, so fp32 holds them exactly, and TF32 does not: a kernel
 * that multiplies fp32 operands as TF32 fails its check.
 */
export function values(
  { seed, fill }: InputOptions,
  tensor: number,
  count: number,
  from = 0,
): Float64Array<ArrayBuffer> {
  const key = mix(mix(seed >>> 0) + Math.imul(tensor + 1, STEP) | 0);
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let h = mixed(from + i ^ key);
    if (fill === "normal") {
      // The chain is a second generator started at h: six words, twelve halves.
      let sum = (h & 0xffff) + (h >>> 16);
      for (let j = 1; j < 6; j++) {
        h = mixed(h + STEP | 0);
        sum += (h & 0xffff) + (h >>> 16);
      }
      out[i] = (sum - 393210) / 65536;
    } else if (fill === "uniform") out[i] = ((h >>> 11) - 1048576) / 1048576;
    else out[i] = (h >>> 0) % 9 - 4;
  }
  return out;
}

/** Elements that are generated at once: 512 KiB of doubles. */
const CHUNK = 1 << 16;

/** Which stored values are made: `count` of them times `unit`, rounded to `type`. */
export interface StoredValues {
  readonly count: number;
  readonly type: DType;
  /** @default {1} */
  readonly unit?: number;
}

/**
 * Generates values of tensor number `tensor` as stored bytes.
 *
 * @param begun The first of them, if they are known: the others alone are made.
 */
export function stored(
  options: InputOptions,
  tensor: number,
  { count, type, unit = 1 }: StoredValues,
  begun: Uint8Array<ArrayBuffer> = new Uint8Array(0),
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count * BYTES[type]);
  bytes.set(begun);
  const first = begun.length / BYTES[type];
  for (let from = first; from < count; from += CHUNK) {
    const some = values(options, tensor, Math.min(CHUNK, count - from), from);
    if (unit !== 1) { for (let i = 0; i < some.length; i++) some[i]! *= unit; }
    bytes.set(encode(some, type), from * BYTES[type]);
  }
  return bytes;
}

/** Bytes of a part that are kept at most for a problem that needs more or fewer. */
const MOST_KEPT = 1 << 25;

/**
 * {@linkcode stored}, of which the most that were wanted of a part are kept: those of a smaller
 * problem are the first of them. Nobody may write to them.
 *
 * @param part Names the tensor among those of the operation.
 */
export function storedPart(
  { op, part }: { readonly op: string; readonly part: string },
  options: InputOptions,
  tensor: number,
  wanted: StoredValues,
): Uint8Array<ArrayBuffer> {
  const { count, type, unit = 1 } = wanted;
  const bytes = count * BYTES[type];
  const of = { seed: options.seed, fill: options.fill, tensor, type, unit };
  const longest = remembered<{ bytes: Uint8Array<ArrayBuffer> }>(
    { op, part: `stored ${part}`, of },
    () => ({ bytes: new Uint8Array(0) }),
  );
  const same = longest.bytes.length === bytes;
  if (!same && longest.bytes.length > MOST_KEPT) {
    longest.bytes = new Uint8Array(0);
  }
  if (longest.bytes.length < bytes) {
    longest.bytes = stored(options, tensor, wanted, longest.bytes);
  }
  return same ? longest.bytes : longest.bytes.subarray(0, bytes);
}

/** What was made last for operation `op`, by part. */
const last = {
  op: "",
  parts: new Map<string, { readonly key: string; readonly made: unknown }>(),
};

/**
 * Returns what `make` makes of `of`, or what it made of the same the last time: suites have the
 * same weights at many numbers of rows. Nobody may write to it. For each part of one operation at
 * a time one thing is kept.
 *
 * @param of The inputs of `make`, as JSON can hold them.
 */
export function remembered<T>(
  { op, part, of }: {
    readonly op: string;
    readonly part: string;
    readonly of: unknown;
  },
  make: () => T,
): T {
  if (last.op !== op) last.parts.clear();
  last.op = op;
  const key = JSON.stringify(of);
  const known = last.parts.get(part);
  // A part has one type.
  if (known?.key === key) return known.made as T;
  // Before it is replaced, so that both are not in memory.
  last.parts.delete(part);
  const made = make();
  last.parts.set(part, { key, made });
  return made;
}
