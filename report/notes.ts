/**
 * What rows have to say, each different thing once.
 *
 * @module
 */

import type { Key, Row } from "../bench/row.ts";

const MOST = 12;

/** The notes of `rows`, with the kernel, the status and the shapes that `label` names. */
export function formatNotes(
  rows: readonly Row[],
  label: (key: Key) => string,
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
    ? [...lines.slice(0, MOST), `  and ${left} more notes, all in the CSV`]
    : lines;
}
