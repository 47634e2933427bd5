/**
 * Converts values to and from C.
 *
 * @module
 */

import type { Arg, Memory } from "../../bench/device/queue.ts";

/** A typed array whose bytes stay where they are: not shared, not resizable. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** The address that C needs for an optional pointer that is not given. */
export const NULL = 0n;

/** Returns `text` as a C string. */
export function cstring(text: string): Bytes {
  return new TextEncoder().encode(`${text}\0`);
}

/** Returns the C string at `address`, or an empty one at address 0. */
export function textAt(address: bigint): string {
  const pointer = Deno.UnsafePointer.create(address);
  return pointer === null
    ? ""
    : new Deno.UnsafePointerView(pointer).getCString();
}

/** Returns the C string that `bytes` begin with. */
export function textIn(bytes: Bytes): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/**
 * Returns where the bytes of `buffer` are. They are only safe to use while `buffer` is
 * reachable, so whoever stores the address stores the buffer too.
 */
export function addressOf(buffer: ArrayBuffer, offset = 0): bigint {
  return Deno.UnsafePointer.value(
    Deno.UnsafePointer.of(new Uint8Array(buffer)),
  ) +
    BigInt(offset);
}

/** Returns the bytes that C passes for a number. */
export function scalarBytes(
  arg: Exclude<Arg, { readonly kind: "memory" | "bytes" }>,
): Bytes {
  switch (arg.kind) {
    case "i32":
      return new Uint8Array(Int32Array.of(arg.value).buffer);
    case "u32":
      return new Uint8Array(Uint32Array.of(arg.value).buffer);
    case "f32":
      return new Uint8Array(Float32Array.of(arg.value).buffer);
    case "f64":
      return new Uint8Array(Float64Array.of(arg.value).buffer);
    case "early":
      // A launch that starts early replaces it.
      return new Uint8Array(Int32Array.BYTES_PER_ELEMENT);
    case "i64":
      return new Uint8Array(BigInt64Array.of(BigInt(arg.value)).buffer);
  }
}

/** Checks the bounds of a copy. @throws {RangeError} Unless `count` bytes from `offset` on are in `memory`. */
export function demandWithin(
  { bytes }: Memory,
  offset: number,
  count: number,
): void {
  if (offset >= 0 && count >= 0 && offset + count <= bytes) return;
  throw new RangeError(
    `Cannot use bytes ${offset} to ${
      offset + count
    } of device memory: it has ${bytes}`,
  );
}

/** Returns the 64 bits that `call` writes to its out-parameter. */
export function out64(
  call: (to: BigUint64Array<ArrayBuffer>) => void,
): bigint {
  const to = new BigUint64Array(1);
  call(to);
  return to[0]!;
}

/** Returns the `int` that `call` writes to its out-parameter. */
export function out32(call: (to: Int32Array<ArrayBuffer>) => void): number {
  const to = new Int32Array(1);
  call(to);
  return to[0]!;
}
