/// <reference lib="dom" />
/**
 * Draws kernels against the baseline: the figures to know first, and a table with bars.
 *
 * @module
 */

import { html } from "lit-html";
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
import { type Child, scroller } from "../dom.ts";
import { count, factor } from "../text.ts";
import { colorOf, swatch, type View } from "./view.ts";

/** Draws the figures to know first. */
export function drawTiles(view: View): Child {
  const { shown, baseline } = view;
  const failed = shown.filter(isFailed).length;
  const suspect = shown.filter((entry) => entry.suspect).length;
  const rows = failed === 1 ? "row failed" : "rows failed";
  return [
    groupsOf(shown, baseline).map((own) => drawGroup(own, baseline)),
    tile(`${failed}`, rows, failed > 0 ? "bad" : "good"),
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
  return html`
    <li
      class="tile ${kind}"><strong>${figure}</strong> <span>${text}</span></li>
  `;
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
    ...["Min", "Median", "Max", "Wins", "Ties", "Losses", "Fastest at"],
    ...(failed ? ["Failed"] : []),
  ];
  return scroller(
    "Kernels against the baseline",
    html`
      <table class="standings">
        <thead><tr>
          <th scope="col">Kernel</th>
          <th scope="col">Geomean</th>
          <td class="bar"></td>
          ${heads.map((text) => html`<th scope="col">${text}</th>`)}
        </tr></thead>
        ${all.map(({ first: { suite, device, pivot }, rows }) => {
          const baseline = view.baseline(pivot);
          // Of its own: 157× on one device would hide 1.35× on another.
          const most = Math.max(1, ...rows.map((row) => row.geomean ?? 0));
          return html`
            <tbody>
              <tr class="group"><th colspan=${heads.length +
                3} scope="rowgroup">
                ${suite} on ${device}${baseline && `, against ${baseline}`}
              </th></tr>
              ${rows.map((row) => line(view, row, { baseline, most, failed }))}
            </tbody>
          `;
        })}
      </table>
    `,
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
  const ratios = [row.min, row.median, row.max].map(factor);
  const tallies = [row.wins, row.ties, row.losses]
    .map((many) => row.geomean === undefined ? "" : `${many}`);
  const cells = [
    ...[...ratios, ...tallies].map((text) => own ? "" : text),
    `${row.fastest}`,
    ...(failed ? [row.failed === 0 ? "" : `${row.failed}`] : []),
  ];
  const share = (ratio: number) => `${100 * ratio / most}%`;
  const bar = row.geomean && html`
    <div class="track" aria-hidden="true" .style=${[
      `--share: ${share(row.geomean)}`,
      `--one: ${share(1)}`,
      `--color: ${colorOf(view, row.kernel)}`,
    ].join(";")}><span></span></div>
  `;
  const tag = html`<span class="tag">baseline</span>`;
  return html`
    <tr>
      <th scope="row">${swatch(view, row.kernel)}${row.kernel}${own
        ? tag
        : undefined}</th>
      <td class="number">${factor(row.geomean)}</td>
      <td class="bar">${bar}</td>
      ${cells.map((text) => html`<td class="number">${text}</td>`)}
    </tr>
  `;
}
