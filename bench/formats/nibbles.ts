/**
 * Two 4-bit codes a byte, the low nibble first, as MLX, PyTorch (`float4_e2m1fn_x2`) and
 * cuBLAS store them.
 *
 * @module
 */

/**
 * `codes` by pairs; the last byte's high nibble is 0 where there is no pair.
 *
 * @example
 * ```ts
 * import { packNibbles } from "./nibbles.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual([...packNibbles([0x1, 0x7, 0xf])], [0x71, 0x0f]);
 * ```
 */
export function packNibbles(
  codes: ArrayLike<number>,
): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    { length: Math.ceil(codes.length / 2) },
    (_, i) => codes[2 * i]! & 15 | (codes[2 * i + 1] ?? 0) << 4,
  );
}

/** The codes in `bytes`, two each. */
export function unpackNibbles(
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const codes = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    codes[2 * i] = bytes[i]! & 15;
    codes[2 * i + 1] = bytes[i]! >> 4;
  }
  return codes;
}
