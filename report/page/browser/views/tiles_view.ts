/// <reference lib="dom" />
/**
 * The figures that the reader should know first.
 *
 * @module
 */

import { geomean } from "../../../../bench/measure/stats.ts";
import { type Comparison, isFailed, isTimed } from "../compare.ts";
import { type Child, el } from "../dom.ts";
import type { Entry } from "../entry.ts";
import { count, factor } from "../text.ts";
import type { View } from "./view.ts";

/** The kernel that is ahead. */
export interface Best {
  readonly kernel: string;
  /** The geometric mean of its speed-ups. */
  readonly mean: number;
  /** The shapes that it is over. */
  readonly over: number;
}

/** A mean over fewer of the shapes than this is not set against the others. */
const ENOUGH = 0.9;

/** The kernel with the greatest geomean among those compared at nearly all shapes. */
export function bestOf(
  entries: readonly Entry[],
  comparison: Comparison,
): Best | undefined {
  const means = [...Map.groupBy(entries, ({ kernel }) => kernel)]
    .map(([kernel, own]) => {
      const ratios = own
        .filter((entry) => comparison.baseline(entry) !== kernel)
        .map((entry) => comparison.speedup(entry))
        .filter((ratio) => ratio !== undefined);
      return { kernel, mean: geomean(ratios), over: ratios.length };
    });
  const most = Math.max(0, ...means.map(({ over }) => over));
  return means
    .filter((m): m is Best => m.mean !== undefined && m.over >= ENOUGH * most)
    .toSorted((a, b) => b.mean - a.mean)[0];
}

/** What there is to know at a glance. */
export function drawTiles(view: View): Child {
  const { shown, comparison } = view;
  const failed = shown.filter(isFailed).length;
  const suspect = shown.filter((entry) => entry.suspect).length;
  return [
    groupsOf(shown, comparison).map((own) => drawGroup(own, comparison)),
    tile(
      `${failed}`,
      failed === 1 ? "row failed" : "rows failed",
      failed > 0 ? "bad" : "good",
    ),
    suspect > 0
      ? tile(
        `${suspect}`,
        "suspect: above SOL, left out of every comparison",
        "bad",
      )
      : undefined,
  ];
}

/** Entries of one device and one baseline: no mean is over more than that. */
export function groupsOf(
  entries: readonly Entry[],
  comparison: Comparison,
): readonly (readonly Entry[])[] {
  const compared = entries.filter((entry) =>
    comparison.baseline(entry) !== undefined
  );
  return [
    ...Map.groupBy(
      compared,
      (entry) => JSON.stringify([entry.device, comparison.baseline(entry)]),
    ).values(),
  ];
}

function drawGroup(entries: readonly Entry[], comparison: Comparison): Child {
  const { device } = entries[0]!;
  const name = comparison.baseline(entries[0]!)!;
  const best = bestOf(entries, comparison);
  const problems = Map.groupBy(entries.filter(isTimed), (e) => e.problem);
  const peaks = [...problems.values()].map((own) =>
    Math.max(...own.map((entry) => comparison.speedup(entry) ?? -1))
  ).filter((ratio) => ratio >= 0);
  const wins = peaks.filter((ratio) => ratio > 1).length;
  return [
    best && tile(
      factor(best.mean),
      `${best.kernel} against ${name} on ${device}, geomean over ${
        count(best.over, "shape")
      }`,
    ),
    peaks.length > 0
      ? tile(
        `${wins} of ${peaks.length}`,
        `shapes with a kernel faster than ${name} on ${device}; taking the fastest at each: ${
          factor(geomean(peaks))
        }`,
      )
      : undefined,
  ];
}

function tile(figure: string, text: string, kind = ""): Child {
  return el(
    "li",
    { class: `tile ${kind}` },
    el("strong", {}, figure),
    " ",
    el("span", {}, text),
  );
}
