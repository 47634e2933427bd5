/**
 * Kernel parameters as the launch calls want them: an array of pointers to values.
 *
 * @module
 */

import type { Arg } from "../../../bench/device/queue.ts";
import { addressOf, type Bytes, scalarBytes } from "../ffi.ts";

/** Parameters of one launch, where C can read them. */
export interface Packed {
  /** The values, each aligned as in C. */
  readonly values: ArrayBuffer;
  /** One pointer into `values` for each parameter. */
  readonly pointers: BigUint64Array<ArrayBuffer>;
  /** The address of `pointers`, valid while this object is reachable. */
  readonly address: bigint;
}

/**
 * Copies `args` to memory that does not move; call it once a step, not once a launch.
 *
 * @throws {RangeError} If an alignment is not a power of two.
 */
export function pack(args: readonly Arg[]): Packed {
  const parts = args.map(partOf);
  const widest = Math.max(16, ...parts.map(({ align }) => align));
  const room = parts.reduce((sum, p) => sum + p.bytes.length + p.align, widest);
  const values = new ArrayBuffer(room);
  const base = addressOf(values);
  // Alignment is of the address, and the buffer itself may start anywhere.
  const first = Number(-base & BigInt(widest - 1));
  let at = first;
  const pointers = new BigUint64Array(args.length);
  for (const [i, { bytes, align }] of parts.entries()) {
    at = first + Math.ceil((at - first) / align) * align;
    new Uint8Array(values, at, bytes.length).set(bytes);
    pointers[i] = base + BigInt(at);
    at += bytes.length;
  }
  return { values, pointers, address: addressOf(pointers.buffer) };
}

/** Returns the bytes of a parameter, and how C aligns it. */
function partOf(arg: Arg): { readonly bytes: Bytes; readonly align: number } {
  if (arg.kind === "memory") {
    const { address } = arg.memory;
    return {
      bytes: new Uint8Array(BigUint64Array.of(address).buffer),
      align: 8,
    };
  }
  if (arg.kind !== "bytes") {
    const bytes = scalarBytes(arg);
    return { bytes, align: bytes.length };
  }
  const { bytes, align } = arg;
  if (align > 0 && Number.isInteger(Math.log2(align))) return { bytes, align };
  throw new RangeError(
    `Cannot align a kernel parameter to ${align} bytes: not a power of two`,
  );
}
