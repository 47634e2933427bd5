/**
 * A comparison for programs.
 *
 * @module
 */

import { KEY_COLUMNS } from "../../bench/row/row.ts";
import {
  causesOfPair,
  type Diff,
  failsOn,
  listed,
  rowOf,
  type ShowOptions,
} from "./diff.ts";
import type { Placed } from "./join.ts";
import type { Judged } from "./verdict.ts";

/** `diff` as JSON: the counts, the means, the listed rows with key, place and figures. */
export function diffJson(diff: Diff, show: ShowOptions): string {
  const content = {
    counts: diff.counts,
    geomeans: diff.means,
    rows: listed(diff, show).map((judged) => rowJson(judged, show)),
  };
  return JSON.stringify(content, null, 2);
}

function rowJson(judged: Judged, { failOn }: ShowOptions) {
  const { verdict, also, pair, speed, why } = judged;
  const row = rowOf(pair);
  return {
    verdict,
    ...(also === undefined ? {} : { also }),
    fails: failsOn(judged, failOn),
    key: Object.fromEntries(KEY_COLUMNS.map((c) => [c, row[c]])),
    ...(pair.base && { base: sideJson(pair.base) }),
    ...(pair.next && { new: sideJson(pair.next) }),
    ...(speed && { change: speed.change }),
    ...(speed?.interval && { interval_us: speed.interval }),
    why,
    causes: causesOfPair(pair),
  };
}

function sideJson({ file, line, row }: Placed) {
  return {
    file,
    line,
    device: row.device,
    config: row.config,
    status: row.status,
    ...(row.median_us === "" ? {} : { median_us: Number(row.median_us) }),
  };
}
