/**
 * What a partial run leaves out, in few lines.
 *
 * @module
 */

import { type Diff, listed, type ShowOptions } from "./diff.ts";
import type { Placed } from "./join.ts";
import type { Judged } from "./verdict.ts";

/** The rows that are listed one by one, and how many are not. */
export interface Folded<R extends Placed> {
  readonly rows: readonly Judged<R>[];
  /** `233 missing in suite on device: no row of it in NEW`. */
  readonly lines: readonly string[];
}

/**
 * The listed rows of `diff`; with `fold`, those missing are one line where NEW has no row
 * of their suite on their device, or none of the device at all.
 */
export function foldMissing<R extends Placed>(
  diff: Diff<R>,
  show: ShowOptions,
): Folded<R> {
  const rows = listed(diff, show);
  if (!show.fold) return { rows, lines: [] };
  const there = new Set<string>();
  for (const { pair: { next } } of diff.judged) {
    if (next) there.add(placeOf(next));
  }
  const absent = rows.filter(({ verdict, pair: { base } }) =>
    verdict === "missing" && !there.has(placeOf(base!))
  );
  const gone = new Set(absent);
  const groups = Map.groupBy(absent, ({ pair }) => placeOf(pair.base!));
  return {
    rows: rows.filter((one) => !gone.has(one)),
    lines: [...groups.values()].map((own) => {
      const { suite, device } = own[0]!.pair.base!.row;
      return `${own.length} missing in ${suite} on ${device}: no row of it in NEW`;
    }),
  };
}

function placeOf({ row: { suite, device } }: Placed): string {
  return JSON.stringify([suite, device]);
}
