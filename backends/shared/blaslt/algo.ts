/**
 * Algorithms as a library proposes them.
 *
 * @module
 */

import { addressOf, type Bytes } from "../ffi.ts";
import type { LtNumbers } from "./calls.ts";

/** An algorithm, as the library gave it. */
export interface Algo {
  readonly bytes: Bytes;
  /** Where `bytes` is: valid while this object is reachable. */
  readonly address: bigint;
  readonly workspaceBytes: number;
}

/** How results lie in memory. */
export type ResultLayout = LtNumbers["result"];

/** Room for the library to write `limit` results to. */
export function resultRoom({ bytes }: ResultLayout, limit: number): Bytes {
  return new Uint8Array(bytes * limit);
}

/**
 * Returns the usable ones of the first `count` results, in the library's order: those that
 * it supports and that need no more than `most` bytes of workspace.
 */
export function readResults(
  layout: ResultLayout,
  results: Bytes,
  { count, most }: { readonly count: number; readonly most: number },
): readonly Algo[] {
  const view = new DataView(results.buffer);
  return Array.from({ length: count }, (_, i) => i * layout.bytes)
    .filter((start) => view.getInt32(start + layout.status, true) === 0)
    .map((start): Algo => {
      const bytes = results.slice(start, start + layout.algoBytes);
      const workspace = view.getBigUint64(start + layout.workspace, true);
      return {
        bytes,
        address: addressOf(bytes.buffer),
        workspaceBytes: Number(workspace),
      };
    })
    .filter(({ workspaceBytes }) => workspaceBytes <= most);
}
