/// <reference lib="dom" />
/**
 * Shows all that is known of one case in a dialog: the others at its shape, its samples and its
 * provenance, beside those of the other run.
 *
 * @module
 */

import { html } from "lit-html";
import type { Column, CsvRow } from "../../../../bench/row/csv_row.ts";
import {
  ACCURACY_COLUMNS,
  FIGURE_COLUMNS,
  KEY_COLUMNS,
  OUTCOME_COLUMNS,
  PLACE_COLUMNS,
  PROVENANCE_COLUMNS,
} from "../../../../bench/row/columns.ts";
import {
  changeOf,
  type Entry,
  numberIn,
  type Run,
  solShareOf,
} from "../book.ts";
import { isAboveSol } from "../../../model/sol.ts";
import { speedupOf } from "../compare.ts";
import { byId, type Child, drawn, fill, ifAny } from "../dom.ts";
import { change, factor, microseconds, moodOf, percent } from "../text.ts";
import { colorOf, looksOf, type View } from "./view.ts";
import { type CurveChart, drawCurves } from "../../../chart/curves.ts";
import { THEMES } from "../../../chart/theme.ts";
import { rangeOf } from "../../../chart/axes.ts";

/** Shows `entry`. Escape and the button close it, and the focus goes back. */
export function openDrill(view: View, entry: Entry): void {
  const dialog = byId("drill") as HTMLDialogElement;
  const { kernel, shape, suite, device } = entry;
  fill(
    "drill",
    html`
      <header>
        <h2 id="drill-title">${kernel} at ${shape.label}</h2>
        <button type="button" id="drill-close" autofocus
          @click=${() => dialog.close()}>Close</button>
      </header>
      <p>${suite} on ${device}</p>
      ${outcome(view, entry)} ${rivals(view, entry)}
      ${drawSamples(view, entry)} ${drawProvenance(view, entry)}
    `,
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function outcome(view: View, entry: Entry): Child {
  const { now, median, status, note, verdict, why, before } = entry;
  const [q1, q3] = [numberIn(now?.q1_us), numberIn(now?.q3_us)];
  const share = solShareOf(entry);
  const figures = median === undefined ? [] : [
    `${microseconds(median)} µs`,
    now?.median_us === "" ? "a mean, as no median was published" : "",
    q1 === undefined || q3 === undefined
      ? ""
      : `quartiles ${microseconds(q1)} to ${microseconds(q3)}`,
    share === undefined ? "" : `${percent(share)} of the speed of light`,
  ].filter((part) => part !== "");
  const other = before === undefined
    ? ""
    : `${microseconds(before)} µs in ${view.book.base?.label ?? ""} ${
      change(changeOf(entry))
    }`;
  return [
    html`<p class="figures"><span class="status ${status}">${status}</span>
      ${figures.join(" · ")}</p>`,
    note === "" ? undefined : html`<p class="note">${note}</p>`,
    now !== undefined && isAboveSol(now)
      ? html`<p class="bad">Above the speed of light (SOL) with a cold cache:
        something was still in the cache, or was not done.</p>`
      : undefined,
    verdict === ""
      ? undefined
      : html`<p><span class="verdict ${moodOf(verdict)}">${verdict}</span>
        ${other} ${why && `(${why})`}</p>`,
  ];
}

/** Makes the table of every kernel at the same shape. */
function rivals(view: View, entry: Entry): Child {
  const all = view.book.entries
    .filter(({ shape }) => shape === entry.shape)
    .toSorted((a, b) => (a.median ?? Infinity) - (b.median ?? Infinity));
  if (all.length < 2) return undefined;
  const most = Math.max(...all.map(({ median }) => median ?? 0));
  const line = (other: Entry, i: number) => {
    const { kernel, median, status } = other;
    const open = () => view.open(other);
    const style = `--share: ${(median ?? 0) / most * 100}%; --color: ${
      colorOf(view, kernel)
    }`;
    const link = html`
      <button type="button" id="rival-${i}" class="link"
        @click=${open}>${kernel}</button>
    `;
    return html`
      <tr class=${ifAny(other === entry ? "chosen" : "")}>
        <th scope="row">${other === entry ? kernel : link}</th>
        <td class="number">${median === undefined
          ? status
          : microseconds(median)}</td>
        <td class="bar"><span aria-hidden="true" .style=${style}></span></td>
        <td class="number">${factor(speedupOf(other, view.baseline))}</td>
      </tr>
    `;
  };
  return html`
    <section aria-label="Kernels at this shape">
      <h3>Kernels at this shape</h3>
      <table class="rivals">
        <tbody>${all.map(line)}</tbody>
      </table>
    </section>
  `;
}

/** All columns, by what they say. */
const GROUPS: Readonly<Record<string, readonly Column[]>> = {
  Outcome: OUTCOME_COLUMNS,
  Figures: FIGURE_COLUMNS,
  Accuracy: ACCURACY_COLUMNS,
  Provenance: PROVENANCE_COLUMNS,
  Case: KEY_COLUMNS,
  Place: PLACE_COLUMNS,
};
/** Columns that are hardly ever the same and say nothing by it. */
const RESTLESS = ["time", "run"];

/** Makes the table of the columns with a value, by what they say; those that differ are marked. */
function drawProvenance({ book }: View, { now, base }: Entry): Child {
  const both = now !== undefined && base !== undefined;
  const other = book.base;
  const line = (column: Column) => {
    const a = now?.[column] ?? "";
    const b = base?.[column] ?? "";
    if (a === "" && b === "") return undefined;
    const differs = both && a !== b && !RESTLESS.includes(column);
    return html`
      <tr class=${ifAny(differs ? "differs" : "")}>
        <th scope="row">${column}${differs ? " ≠" : ""}</th>
        <td>${a}</td>
        ${other && html`<td>${b}</td>`}
      </tr>
    `;
  };
  const heads = other && ["Column", book.now.label, other.label]
    .map((text) => html`<th scope="col">${text}</th>`);
  const bodies = Object.entries(GROUPS).map(([group, columns]) =>
    html`
      <tbody>
        <tr class="group">
          <th colspan=${heads?.length ?? 2} scope="rowgroup">${group}</th>
        </tr>
        ${columns.map(line)}
      </tbody>
    `
  );
  return html`
    <section aria-label="Provenance">
      <h3>Everything in the row</h3>
      <table class="provenance">
        ${heads && html`
          <thead>
            <tr>${heads}</tr>
          </thead>
        `}
        ${bodies}
      </table>
    </section>
  `;
}

const HEIGHT = 200;

/** Quantiles of the samples of a run in microseconds, and the colour they are drawn in. */
interface Shown {
  readonly run: Run;
  readonly row: CsvRow;
  readonly series: readonly number[];
  readonly color: string;
}

/** Draws the samples of `entry` in both runs, as far as they were kept. */
function drawSamples(view: View, entry: Entry): Child {
  const { book: { now, base }, theme } = view;
  const { color } = looksOf(view.book, theme).get(entry.kernel)!;
  const shown = (
    run?: Run,
    row?: CsvRow,
    color = THEMES[theme].dim,
  ): Shown[] => {
    const series = row && run?.seriesOf(row);
    return series ? [{ run: run!, row, series, color }] : [];
  };
  const runs = [...shown(now, entry.now, color), ...shown(base, entry.base)];
  if (runs.length === 0) return undefined;
  return html`
    <section class="samples" aria-label="Samples">
      <h3>Samples</h3>
      ${quantiles(view, runs)}
      <p class="hint">${caption(runs)}</p>
    </section>
  `;
}

/** Draws the values below which a share of the samples lies, a curve for each run. */
function quantiles({ theme }: View, runs: readonly Shown[]): Child {
  const all = runs.map(({ series }) => series);
  // One straggler would flatten the rest: it is drawn on the edge, and named in the caption.
  const range = rangeOf(all.flatMap((own) => own.slice(0, -1)), {
    type: "linear",
    fromZero: false,
  });
  const last = all[0]!.length - 1;
  const chart: CurveChart = {
    title: "",
    categories: all[0]!.map((_, i) => `${Math.round(i / last * 100)} %`),
    categoryTitle: "share of the samples that take no longer",
    valueTitle: "µs",
    range,
    joined: true,
    series: runs.map(({ run, series, color }, i) => ({
      name: run.label,
      color,
      mark: i === 0 ? "circle" : "ring",
      values: series.map((us) => Math.min(us, range.max)),
    })),
  };
  const width = roomOf();
  const label = runs.map(({ run, series }) =>
    `${run.label}: ${microseconds(series[0])} to ${
      microseconds(series.at(-1))
    } microseconds`
  ).join("; ");
  return drawn({ width, height: HEIGHT, theme, label }, (paper) => {
    const box = { x: 0, y: 8, width: width - 8, height: HEIGHT - 8 };
    drawCurves(paper, chart, { box });
  }).canvas;
}

function caption([first, other]: readonly Shown[]): string {
  const { run, row, series } = first!;
  const both = other === undefined
    ? ""
    : ` Full marks: ${run.label}; grey rings: ${other.run.label}.`;
  return `${series.length} evenly spread quantiles of ${row.samples} samples in µs, from the least to the greatest, ${
    microseconds(series.at(-1))
  } µs.${both}`;
}

/** As wide as the room: what is scaled down on a phone could not be read. */
function roomOf(): number {
  return Math.max(300, Math.min(700, innerWidth - 40));
}
