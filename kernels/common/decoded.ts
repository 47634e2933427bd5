/**
 * Decodes inputs once for several looks at a few elements.
 *
 * @module
 */

import { BYTES, decode, type DType } from "../../bench/model/dtype.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Elements that are decoded for the sake of a few: 8 MiB of numbers. */
const MOST = 1 << 20;

const known = new WeakMap<Bytes, Float64Array<ArrayBuffer>>();

/**
 * Returns the values of `bytes`, which must not change afterwards; nothing where they are so many
 * that a few of them are read faster one by one.
 */
export function decodedOnce(
  bytes: Bytes,
  type: DType,
): Float64Array<ArrayBuffer> | undefined {
  if (bytes.length > MOST * BYTES[type]) return undefined;
  let values = known.get(bytes);
  if (!values) known.set(bytes, values = decode(bytes, type));
  return values;
}
