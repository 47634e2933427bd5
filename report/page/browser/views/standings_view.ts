/// <reference lib="dom" />
/**
 * Draws kernels against the baseline: the figures to know first, and a table with bars.
 *
 * @module
 */

import { html } from "lit-html";
import { geomean, quantile } from "../../../../bench/measure/stats.ts";
import { type Entry, isFailed, isTimed, solShareOf } from "../book.ts";
import { compareSides, type Standing, standings } from "../compare.ts";
import { byId, type Child, scroller } from "../dom.ts";
import { formatState, INITIAL } from "../state.ts";
import { count, factor, microseconds, percent } from "../text.ts";
import { colorOf, distinct, familyOf, swatch, type View } from "./view.ts";

/** Draws what each suite shows, with the ways to its parts, and what failed. */
export function drawTiles(view: View): Child {
  const { shown } = view;
  const failed = shown.filter(isFailed).length;
  const suspect = shown.filter((entry) => entry.suspect).length;
  const rows = failed === 1 ? "row failed" : "rows failed";
  return [
    [...Map.groupBy(shown, ({ pivot }) => pivot).values()]
      .map((own) => drawSuite(view, own)),
    tile(`${failed}`, rows, failed > 0 ? "bad" : "good"),
    suspect > 0
      ? tile(
        `${suspect}`,
        "suspect: above SOL or remembered, left out of every comparison",
        "bad",
      )
      : undefined,
  ];
}

function drawSuite(view: View, entries: readonly Entry[]): Child {
  const { suite, device, pivot } = entries[0]!;
  const [figure, text] = headlineOf(view, entries);
  const devices = distinct(view.book.entries, (entry) => entry.device).length;
  const place = devices > 1 ? ` on ${device}` : "";
  const choice = {
    suite,
    device: devices > 1 ? device : "",
    family: familyOf(pivot),
    page: 0,
  };
  // A link that can be copied; here it keeps the other choices.
  const go = (target: string) => (event: Event) => {
    event.preventDefault();
    view.update(choice);
    byId(target).scrollIntoView();
    byId(target).focus({ preventScroll: true });
  };
  const way = (target: string, name: string) =>
    html`
      <a href=${`#${formatState({ ...INITIAL, ...choice })}`} @click=${go(
        target,
      )}
        aria-label="${name} of ${suite}">${name}</a>
    `;
  return html`
    <li class="tile">
      <span class="name">${suite}</span>
      <strong>${figure}</strong> <span>${text}${place}</span>
      <span class="ways"><a href=${`#${idOf(view, pivot)}`}
        aria-label="Kernels of ${suite}">Kernels</a>
        ${way("table-title", "Table")} ${way("charts-title", "Charts")}</span>
    </li>
  `;
}

/** Returns what a suite is about: our kernels against others, the best of all, or one alone. */
function headlineOf(
  { state, book, baseline }: View,
  entries: readonly Entry[],
): [figure: string, text: string] {
  const { suite, pivot } = entries[0]!;
  const chosen = baseline(pivot);
  const { baselines } = book.data;
  const usual = Object.hasOwn(baselines, suite)
    ? baselines[suite]!
    : baselines[""] ?? [];
  const peers = pivot.contenders.filter(({ peer }) => peer);
  const duel = compareSides(entries, baseline, [
    ...chosen === undefined ? [] : [chosen],
    ...state.baseline === ""
      ? [...usual, ...peers.map(({ name }) => name)]
      : [],
  ]);
  if (duel) {
    const { own, others, factors } = duel;
    const ahead = factors.filter((ratio) => ratio > 1).length;
    return [
      factor(geomean(factors)),
      `${anyOf(own, "kernels")} against ${
        anyOf(others, "baselines and peers")
      }, geomean over ${count(factors.length, "shape")}; ahead at ${ahead}`,
    ];
  }
  const timed = entries.filter(isTimed);
  const [first] = timed;
  if (first === undefined) return ["–", "no row has a time to compare"];
  const medians = timed.map(({ median }) => median);
  const [least, most] = [Math.min(...medians), Math.max(...medians)];
  const figure = least === most
    ? `${microseconds(least)} µs`
    : `${microseconds(least)} to ${microseconds(most)} µs`;
  const names = new Set(timed.map(({ kernel }) => kernel));
  const light = geomean(timed.map(solShareOf).filter(isNumber));
  const shapes = new Set(timed.map(({ shape }) => shape)).size;
  return [
    figure,
    [
      names.size === 1 ? first.kernel : count(names.size, "kernel"),
      `at ${count(shapes, "shape")}`,
      ...light === undefined
        ? []
        : [`reaching ${percent(light)} of the speed of light`],
    ].join(" "),
  ];
}

function anyOf(names: readonly string[], noun: string): string {
  return names.length === 1
    ? names[0]!
    : `the fastest of ${names.length} ${noun}`;
}

function isNumber(value: number | undefined): value is number {
  return value !== undefined;
}

/** Returns the id of a suite's part of the standings. */
function idOf({ book }: View, pivot: Entry["pivot"]): string {
  const pivots = distinct(book.entries, (entry) => entry.pivot);
  return `kernels-${pivots.indexOf(pivot)}`;
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
    entries,
    rows: standings(entries, view.baseline),
  }));
  const failed = all.some(({ rows }) => rows.some((row) => row.failed > 0));
  const isCompared = places.some(([entry]) =>
    view.baseline(entry!.pivot) !== undefined
  );
  const heads = [
    ...["Min", "Median", "Max"],
    ...(isCompared ? ["Wins", "Ties", "Losses", "Fastest at"] : []),
    ...(failed ? ["Failed"] : []),
  ];
  return scroller(
    "Kernels against the baseline",
    html`
      <table class="standings">
        <thead><tr>
          <th scope="col">Kernel</th>
          <th scope="col">${isCompared
            ? "Geomean"
            : "Of the speed of light"}</th>
          <td class="bar"></td>
          ${heads.map((text) => html`<th scope="col">${text}</th>`)}
        </tr></thead>
        ${all.map(({ first: { suite, device, pivot }, entries, rows }) => {
          const baseline = view.baseline(pivot);
          // Of its own: 157× on one device would hide 1.35× on another.
          const most = Math.max(1, ...rows.map((row) => row.geomean ?? 0));
          const against = baseline === undefined
            ? ": times, and the share of the speed of light"
            : `, against ${baseline}`;
          return html`
            <tbody id=${idOf(view, pivot)} tabindex="-1">
              <tr class="group"><th colspan=${heads.length +
                3} scope="rowgroup">
                ${suite} on ${device}${against}
              </th></tr>
              ${baseline === undefined
                ? rows.map((row) =>
                  timesLine(view, row, { entries, isCompared, failed })
                )
                : rows.map((row) =>
                  line(view, row, { baseline, most, failed })
                )}
            </tbody>
          `;
        })}
      </table>
    `,
  );
}

/** Draws a kernel that there is no baseline for. */
function timesLine(
  view: View,
  row: Standing,
  { entries, isCompared, failed }: {
    readonly entries: readonly Entry[];
    /** Other kernels of the table have a baseline. */
    readonly isCompared: boolean;
    readonly failed: boolean;
  },
): Child {
  const timed = entries.filter(({ kernel }) => kernel === row.kernel)
    .filter(isTimed);
  const times = timed.map(({ median }) => median).toSorted((a, b) => a - b);
  const share = geomean(timed.map(solShareOf).filter(isNumber));
  const us = [0, 0.5, 1].map((p) =>
    times.length === 0 ? "" : `${microseconds(quantile(times, p))} µs`
  );
  const cells = [
    ...us,
    ...(isCompared ? ["", "", "", ""] : []),
    ...(failed ? [row.failed === 0 ? "" : `${row.failed}`] : []),
  ];
  return html`
    <tr>
      <th scope="row">${swatch(view, row.kernel)}${row.kernel}</th>
      <td class="number">${percent(share)}</td>
      <td class="bar">${share && barOf(view, row.kernel, share)}</td>
      ${cells.map((text) => html`<td class="number">${text}</td>`)}
    </tr>
  `;
}

/** Draws a bar of a share of the width, and the place of one of it. */
function barOf(view: View, kernel: string, share: number, one = 1): Child {
  return html`
    <div class="track" aria-hidden="true" .style=${[
      `--share: ${100 * share}%`,
      `--one: ${100 * one}%`,
      `--color: ${colorOf(view, kernel)}`,
    ].join(";")}><span></span></div>
  `;
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
  const bar = row.geomean &&
    barOf(view, row.kernel, row.geomean / most, 1 / most);
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
