/**
 * Rows of peers that a run without peers cannot have.
 *
 * @module
 */

import { isPeer } from "../../../peers/peer_cases.ts";
import type { SourcedRow } from "../../../session/read_rows.ts";

/**
 * `base` without the rows of peers of each suite and device of which `next` has rows, but
 * none of a peer: nobody asked for them, so they are not lost. With one peer there, or with
 * nothing of the suite, all stay. Whoever drops rows has to say so: `note` is for that.
 */
export function withoutUnmeasuredPeers(
  base: readonly SourcedRow[],
  next: readonly SourcedRow[],
): { readonly rows: readonly SourcedRow[]; readonly note: string | undefined } {
  const measured = new Set(next.map(placeOf));
  const beside = new Set(next.filter(isPeerRow).map(placeOf));
  const isDropped = (one: SourcedRow) =>
    isPeerRow(one) && measured.has(placeOf(one)) && !beside.has(placeOf(one));
  const rows = base.filter((one) => !isDropped(one));
  const dropped = base.length - rows.length;
  return {
    rows,
    note: dropped === 0
      ? undefined
      : `${dropped} rows of peers are not compared, as NEW was measured without peers: add --peers torch to its run to compare them`,
  };
}

function isPeerRow({ row }: SourcedRow): boolean {
  return isPeer(row);
}

function placeOf({ row: { suite, device } }: SourcedRow): string {
  return `${suite}\0${device}`;
}
