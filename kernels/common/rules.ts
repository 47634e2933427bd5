/**
 * Rules that configs of several kernels obey.
 *
 * @module
 */

import type { Rule } from "../../bench/model/kernel.ts";

/** The limit of a grid along an axis. */
const MOST_BLOCKS = 65535;

/** The least power of two, from `least` on, that covers `size`: at least half of it is used. */
export function covering(size: number, least = 16): number {
  return Math.max(least, 2 ** Math.ceil(Math.log2(size)));
}

/** Returns why a tunable is too large: beyond `most`, half of what it covers does not exist. */
export function padding(
  name: string,
  value: number,
  most: number,
): string | undefined {
  return value <= most
    ? undefined
    : `more than half of ${name}=${value} would be padding`;
}

/** Requires a part of K, which is `k` long, for each of `slices` slices of `slice`. */
export function allHaveSome(
  k: number,
  { slices, slice }: { readonly slices: number; readonly slice: number },
): string | undefined {
  return (slices - 1) * slice < k
    ? undefined
    : `${slices} slices of ${slice} leave some without any of K=${k}`;
}

/** Requires that a block's memory has room for so many bytes. */
export function fitsMemory<P, C>(
  bytesOf: (point: P, config: C) => number,
  memory = "shared memory, a block",
): Rule<P, C> {
  return (point, config, { sharedBytes }) => {
    const bytes = bytesOf(point, config);
    return bytes <= sharedBytes
      ? undefined
      : `${bytes} bytes of ${memory} may have ${sharedBytes}`;
  };
}

/** Requires a grid that may be launched. */
export function fitsGrid<P, C>(
  gridOf: (point: P, config: C) => readonly number[],
): Rule<P, C> {
  return (point, config) => {
    const most = Math.max(...gridOf(point, config));
    return most <= MOST_BLOCKS
      ? undefined
      : `a grid of ${most} blocks is beyond ${MOST_BLOCKS} along an axis`;
  };
}

/** Configs of the rows of a table, whose columns are `names`. */
export function tableOf<const Name extends string>(
  names: readonly Name[],
  rows: readonly (readonly number[])[],
): readonly Readonly<Record<Name, number>>[] {
  return rows.map((row) =>
    Object.fromEntries(names.map((name, i) => [name, row[i]!])) as Record<
      Name,
      number
    >
  );
}
