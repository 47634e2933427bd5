/**
 * What rows have to say, each different thing once.
 *
 * @module
 */

import type { Key, Row } from "../../bench/row/row.ts";

const MOST = 12;

/**
 * That some geometric means are over fewer than `all` shapes: those of different shapes are
 * not to be compared. Nothing where each is over all.
 */
export function partialMeans(
  counts: readonly (readonly [kernel: string, shapes: number])[],
  all: number,
): string[] {
  const fewer = counts.filter(([, shapes]) => shapes > 0 && shapes < all)
    .map(([kernel, shapes]) => `${kernel} (${shapes})`);
  return fewer.length === 0
    ? []
    : [`geomean over fewer than the ${all} shapes: ${fewer.join(", ")}`];
}

/**
 * The notes of `rows`, with the kernel, the status and the shapes that `label` names.
 *
 * @param all Where those are that are too many for here.
 */
export function formatNotes(
  rows: readonly Row[],
  label: (key: Key) => string,
  all = "all in the CSV",
): string[] {
  const different = Map.groupBy(
    rows.filter(({ note }) => note !== ""),
    ({ key, status, note }) => JSON.stringify([key.kernel, status, note]),
  );
  const lines = [...different.values()].map((same) => {
    const { key, status, note } = same[0]!;
    const at = same.length > 1 ? `${same.length} shapes` : label(same[0]!.key);
    const how = status === "ok" ? "" : ` ${status}`;
    return `  ${key.kernel}${how} at ${at}: ${note.split("\n")[0]}`;
  });
  const left = lines.length - MOST;
  return left > 0
    ? [...lines.slice(0, MOST), `  and ${left} more notes, ${all}`]
    : lines;
}
