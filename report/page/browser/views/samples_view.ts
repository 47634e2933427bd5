/// <reference lib="dom" />
/**
 * Draws the samples of a row: every one in the order it was taken, or how they are spread.
 *
 * @module
 */

import { html } from "lit-html";
import type { CsvRow } from "../../../../bench/row/csv_row.ts";
import { type CurveChart, drawCurves } from "../../../chart/curves.ts";
import { drawStrip } from "../../../chart/strip.ts";
import { THEMES } from "../../../chart/theme.ts";
import { rangeOf } from "../../../chart/axes.ts";
import { type Entry, numberIn, type Run } from "../book.ts";
import { type Child, drawn } from "../dom.ts";
import { microseconds } from "../text.ts";
import { looksOf, type View } from "./view.ts";

const HEIGHT = 200;

/** A row of a run, and the colour it is drawn in. */
interface Shown {
  readonly run: Run;
  readonly row: CsvRow;
  readonly color: string;
}

/** Draws the samples of `entry` in both runs. */
export function drawSamples(view: View, entry: Entry): Child {
  const { book: { now, base, data } } = view;
  const { color } = looksOf(view.book, view.theme).get(entry.kernel)!;
  const { dim } = THEMES[view.theme];
  const runs: Shown[] = [
    ...(entry.now ? [{ run: now, row: entry.now, color }] : []),
    ...(entry.base && base ? [{ run: base, row: entry.base, color: dim }] : []),
  ];
  const kept = runs.filter(({ run, row }) => run.seriesOf(row));
  const pictures = data.allSamples && kept.length > 0
    ? kept.map((one) => inOrder(view, one))
    : [quantiles(view, kept.length > 0 ? kept : runs)];
  if (pictures.every((picture) => picture === undefined)) return undefined;
  return html`
    <section class="samples" aria-label="Samples">
      <h3>Samples</h3>
      ${pictures}
      <p class="hint">${caption(view, kept.length > 0 ? kept : runs)}</p>
    </section>
  `;
}

/** Draws all samples over their order, in which drift and modes are seen. */
function inOrder(view: View, { run, row, color }: Shown): Child {
  const samples = run.seriesOf(row)!;
  const width = roomOf();
  const label =
    `${samples.length} samples of ${run.label} in the order they were taken`;
  const size = { width, height: HEIGHT, theme: view.theme, label };
  return drawn(size, (paper) => {
    const box = { x: 0, y: 0, width, height: HEIGHT };
    drawStrip(paper, { box, repeats: [samples], color });
  }).canvas;
}

const KNOWN = {
  least: "min_us",
  q1: "q1_us",
  median: "median_us",
  q3: "q3_us",
} as const;

/** Draws the values below which a share of the samples lies, a curve for each run. */
function quantiles(view: View, runs: readonly Shown[]): Child {
  const all = runs.map(({ run, row }) =>
    run.seriesOf(row) ??
      Object.values(KNOWN).map((column) => numberIn(row[column]))
  );
  const values = all.flat().filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  const kept = runs.some(({ run, row }) => run.seriesOf(row));
  // One straggler would flatten the rest: it is drawn on the edge, and named in the caption.
  const usual = kept ? all.flatMap((own) => own.slice(0, -1)) : all.flat();
  const range = rangeOf(usual.filter((value) => value !== undefined), {
    type: "linear",
    fromZero: false,
  });
  const last = all[0]!.length - 1;
  const chart: CurveChart = {
    title: "",
    categories: kept
      ? all[0]!.map((_, i) => `${Math.round(i / last * 100)} %`)
      : Object.keys(KNOWN),
    categoryTitle: kept ? "share of the samples that take no longer" : "",
    valueTitle: "µs",
    range,
    joined: true,
    series: runs.map(({ run, color }, i) => ({
      name: run.label,
      color,
      mark: i === 0 ? "circle" : "ring",
      values: all[i]!.map((us) => us && Math.min(us, range.max)),
    })),
  };
  const width = roomOf();
  const label = runs.map(({ run }, i) =>
    `${run.label}: ${microseconds(all[i]![0])} to ${
      microseconds(all[i]!.at(-1))
    } microseconds`
  ).join("; ");
  const size = { width, height: HEIGHT, theme: view.theme, label };
  return drawn(size, (paper) => {
    const box = { x: 0, y: 8, width: width - 8, height: HEIGHT - 8 };
    drawCurves(paper, chart, { box });
  }).canvas;
}

function caption(
  { book: { data } }: View,
  [first, other]: readonly Shown[],
): string {
  const { run, row } = first!;
  const series = run.seriesOf(row);
  const both = other === undefined
    ? ""
    : ` Full marks: ${run.label}; grey rings: ${other.run.label}.`;
  if (series === undefined) {
    return `Least, quartiles and median of ${row.samples} samples in µs: no samples were kept beside the CSV.${both}`;
  }
  return data.allSamples
    ? `All ${series.length} samples in µs, in the order they were taken, their running median, and how often each value came.`
    : `${series.length} evenly spread quantiles of ${row.samples} samples in µs, from the least to the greatest, ${
      microseconds(series.at(-1))
    } µs.${both}`;
}

/** As wide as the room: what is scaled down on a phone could not be read. */
function roomOf(): number {
  return Math.max(300, Math.min(700, innerWidth - 40));
}
