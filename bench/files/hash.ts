/**
 * Hashes texts and bytes.
 *
 * @module
 */

import { createHash } from "node:crypto";

const HASH_DIGITS = 16;

/** Hash of `parts`, in hexadecimal. */
export function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, HASH_DIGITS);
}
