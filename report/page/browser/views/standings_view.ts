/// <reference lib="dom" />
/**
 * Kernels against the baseline, as a table with bars.
 *
 * @module
 */

import { placeOf, type Standing, standings } from "../compare.ts";
import { type Child, el, scroller } from "../dom.ts";
import { factor } from "../text.ts";
import { lookOf, type View } from "./view.ts";

/** The table of standings, a body for each suite and device. */
export function drawStandings(view: View): Child {
  const places = [...Map.groupBy(view.shown, placeOf).values()];
  if (places.length === 0) return undefined;
  const all = places.map((entries) => ({
    first: entries[0]!,
    rows: standings(entries, view.comparison)
      .toSorted((a, b) => (b.geomean ?? -1) - (a.geomean ?? -1)),
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
        const baseline = view.comparison.baseline(first);
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
    number(own || row.compared === 0 ? "" : `${many}`);
  return el(
    "tr",
    { class: own ? "baseline" : undefined },
    el(
      "th",
      { scope: "row" },
      el("span", {
        class: "swatch",
        "aria-hidden": "true",
        vars: { "--color": lookOf(view, row.kernel).color },
      }),
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
            "--color": lookOf(view, row.kernel).color,
          },
        },
        el("span"),
      ),
    ),
    number(own ? "" : factor(row.least)),
    number(own ? "" : factor(row.median)),
    number(own ? "" : factor(row.greatest)),
    tally(row.wins),
    tally(row.ties),
    tally(row.losses),
    number(`${row.fastest}`),
    failed ? number(row.failed === 0 ? "" : `${row.failed}`) : undefined,
  );
}
