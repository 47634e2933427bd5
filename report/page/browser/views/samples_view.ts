/// <reference lib="dom" />
/**
 * Draws how the samples of a row are spread.
 *
 * @module
 */

import { html } from "lit-html";
import type { CsvRow } from "../../../../bench/row/csv_row.ts";
import { type CurveChart, drawCurves } from "../../../chart/curves.ts";
import { THEMES } from "../../../chart/theme.ts";
import { rangeOf } from "../../../chart/axes.ts";
import type { Entry, Run } from "../book.ts";
import { type Child, drawn } from "../dom.ts";
import { microseconds } from "../text.ts";
import { looksOf, type View } from "./view.ts";

const HEIGHT = 200;

/** Quantiles of the samples of a run in microseconds, and the colour they are drawn in. */
interface Shown {
  readonly run: Run;
  readonly row: CsvRow;
  readonly series: readonly number[];
  readonly color: string;
}

/** Draws the samples of `entry` in both runs, as far as they were kept. */
export function drawSamples(view: View, entry: Entry): Child {
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
