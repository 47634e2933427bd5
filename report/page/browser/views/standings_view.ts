/// <reference lib="dom" />
/**
 * Draws kernels against the baseline: the figures to know first, and a table with bars.
 *
 * @module
 */

import { geomean } from "../../../../bench/measure/stats.ts";
import { type Entry, isFailed, isTimed } from "../book.ts";
import {
  type Baseline,
  bestOf,
  groupsOf,
  speedupOf,
  type Standing,
  standings,
} from "../compare.ts";
import { type Child, el, scroller } from "../dom.ts";
import { count, factor } from "../text.ts";
import { colorOf, swatch, type View } from "./view.ts";

/** Draws the figures to know first. */
export function drawTiles(view: View): Child {
  const { shown, baseline } = view;
  const failed = shown.filter(isFailed).length;
  const suspect = shown.filter((entry) => entry.suspect).length;
  return [
    groupsOf(shown, baseline).map((own) => drawGroup(own, baseline)),
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

function drawGroup(entries: readonly Entry[], baseline: Baseline): Child {
  const { device, pivot } = entries[0]!;
  const name = baseline(pivot)!;
  const best = bestOf(entries, baseline);
  const shapes = Map.groupBy(entries.filter(isTimed), (e) => e.shape);
  const peaks = [...shapes.values()].map((own) =>
    Math.max(...own.map((entry) => speedupOf(entry, baseline) ?? -1))
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

/** Draws the table of standings, a body for each suite and device. */
export function drawStandings(view: View): Child {
  const places = [...Map.groupBy(view.shown, ({ pivot }) => pivot).values()];
  if (places.length === 0) return undefined;
  const all = places.map((entries) => ({
    first: entries[0]!,
    rows: standings(entries, view.baseline),
  }));
  const failed = all.some(({ rows }) => rows.some((row) => row.failed > 0));
  const heads = [
    ...["Kernel", "Geomean", "", "Min", "Median", "Max"],
    ...["Wins", "Ties", "Losses", "Fastest at", ...(failed ? ["Failed"] : [])],
  ];
  return scroller(
    "Kernels against the baseline",
    el(
      "table",
      { class: "standings" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((text) =>
            text === ""
              ? el("td", { class: "bar" })
              : el("th", { scope: "col" }, text)
          ),
        ),
      ),
      all.map(({ first, rows }) => {
        const baseline = view.baseline(first.pivot);
        // Of its own: 157× on one device would hide 1.35× on another.
        const most = Math.max(1, ...rows.map((row) => row.geomean ?? 0));
        const caption = `${first.suite} on ${first.device}` +
          (baseline === undefined ? "" : `, against ${baseline}`);
        return el(
          "tbody",
          {},
          el(
            "tr",
            { class: "group" },
            el("th", { colspan: heads.length, scope: "rowgroup" }, caption),
          ),
          rows.map((row) => line(view, row, { baseline, most, failed })),
        );
      }),
    ),
  );
}

function line(
  view: View,
  row: Standing,
  { baseline, most, failed }: {
    readonly baseline: string | undefined;
    readonly most: number;
    readonly failed: boolean;
  },
): Child {
  const own = row.kernel === baseline;
  const number = (text: string) => el("td", { class: "number" }, text);
  const tally = (many: number) =>
    number(own || row.geomean === undefined ? "" : `${many}`);
  return el(
    "tr",
    { class: own ? "baseline" : undefined },
    el(
      "th",
      { scope: "row" },
      swatch(view, row.kernel),
      row.kernel,
      own ? el("span", { class: "tag" }, "baseline") : undefined,
    ),
    number(factor(row.geomean)),
    el(
      "td",
      { class: "bar" },
      row.geomean === undefined ? undefined : el(
        "div",
        {
          class: "track",
          "aria-hidden": "true",
          vars: {
            "--share": `${(row.geomean / most) * 100}%`,
            "--one": `${100 / most}%`,
            "--color": colorOf(view, row.kernel),
          },
        },
        el("span"),
      ),
    ),
    number(own ? "" : factor(row.min)),
    number(own ? "" : factor(row.median)),
    number(own ? "" : factor(row.max)),
    tally(row.wins),
    tally(row.ties),
    tally(row.losses),
    number(`${row.fastest}`),
    failed ? number(row.failed === 0 ? "" : `${row.failed}`) : undefined,
  );
}
