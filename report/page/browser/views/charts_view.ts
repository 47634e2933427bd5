/// <reference lib="dom" />
/**
 * Draws the charts of one suite and device at a time, with their values under the pointer and
 * the arrow keys.
 *
 * @module
 */

import { html, render } from "lit-html";
import {
  type CurveChart,
  drawCurves,
  type Series,
} from "../../../chart/curves.ts";
import { latencyCharts, latencyRange, legendOf } from "../../../chart/data.ts";
import { drawKey, type LegendEntry } from "../../../chart/palette.ts";
import { axisName, type Panel, panelsOf } from "../../../chart/panels.ts";
import { mainOf } from "../../../model/rank.ts";
import { THEMES } from "../../../chart/theme.ts";
import type { Range } from "../../../chart/axes.ts";
import { type Entry, numberIn } from "../book.ts";
import { speedupOf } from "../compare.ts";
import { byId, type Child, drawn, fill, select } from "../dom.ts";
import { factor, microseconds } from "../text.ts";
import { distinct, familyOf, looksOf, swatch, type View } from "./view.ts";

/** Panels that are drawn; more would be a page of their own. */
const MOST = 12;
/** The least width of a panel, the space between two, and a panel's own edges, CSS pixels. */
const LEAST = 440;
const GAP = 16;
const EDGES = 22;
const HEIGHT = 320;

/** A shape with the entries of it that are shown. */
type ShownShape = Entry["shape"] & { readonly entries: readonly Entry[] };

/** Draws the charts of the chosen suite and device. */
export function drawCharts(view: View): void {
  const timed = view.shown.filter(({ median }) => median !== undefined);
  const pivots = distinct(timed, ({ pivot }) => pivot);
  const chosen =
    pivots.find((pivot) => familyOf(pivot) === view.state.family) ??
      pivots[0];
  const all = view.shown.filter(({ pivot }) => pivot === chosen);
  const main = chosen ? mainKernels(view, chosen, all) : [];
  const entries = view.state.all
    ? all
    : all.filter(({ kernel }) => main.includes(kernel));
  const kernels = distinct(all, ({ kernel }) => kernel).length;
  const toggleAll = () => view.update({ all: !view.state.all });
  const choice = chosen && pivots.length > 1
    ? select(
      { id: "chart-family", label: "Charts of", value: familyOf(chosen) },
      pivots.map((pivot) => [familyOf(pivot), familyOf(pivot)]),
      (family) => view.update({ family }),
    )
    : undefined;
  const toggle = () => view.update({ log: !view.state.log });
  fill(
    "charts",
    html`
      <h2 id="charts-title" tabindex="-1">Charts</h2>
      ${chosen === undefined
        ? html`<p class="empty">No row with a time is left to draw.</p>`
        : html`
          <div class="fields">
            ${choice}
            <label class="chip">
              <input type="checkbox" id="chart-log" .checked=${view.state.log}
                @change=${toggle}>Logarithmic latency
            </label>
            ${kernels <= main.length ? undefined : html`
              <label class="chip">
                <input type="checkbox" id="chart-all" .checked=${view.state.all}
                  @change=${toggleAll}>All ${kernels} kernels, not the ${main
                    .length} fastest
              </label>
            `}
          </div>
          ${drawLines(view, entries)}
        `}
    `,
  );
}

/** Returns the kernels that are drawn unless all are asked for, of those that are shown. */
function mainKernels(
  view: View,
  pivot: Entry["pivot"],
  entries: readonly Entry[],
): readonly string[] {
  const shown = new Set(entries.map(({ kernel }) => kernel));
  return mainOf({
    ...pivot,
    baseline: view.baseline(pivot),
    contenders: pivot.contenders.filter(({ name }) => shown.has(name)),
  });
}

function drawLines(view: View, entries: readonly Entry[]): Child {
  const shapes = [...Map.groupBy(entries, ({ shape }) => shape)]
    .map(([shape, own]): ShownShape => ({
      ...shape,
      rows: new Map(
        own.flatMap(({ kernel, now }) => now ? [[kernel, now]] : []),
      ),
      entries: own,
    }));
  const shown = new Set(entries.map(({ kernel }) => kernel));
  const kernels = view.book.kernels.filter((name) => shown.has(name));
  const theme = THEMES[view.theme];
  const looks = looksOf(view.book, view.theme);
  const legend = legendOf(shapes, { kernels, looks, theme });
  const { axis, panels: all } = panelsOf(shapes);
  const panels = all.filter(({ items }) => rangeOf(view, items) !== undefined);
  const some = panels.slice(0, MOST);
  const charts = latencyCharts({ axis, panels: some, values: [] }, {
    legend,
    rangeOf: ({ items }) => rangeOf(view, items)!,
  });
  const before = { name: view.book.base?.label ?? "", color: theme.dim };
  const keys = [
    ...legend,
    ...(view.book.base ? [{ ...before, ...BEFORE }] : []),
  ];
  const figures = charts.map((chart, i) => {
    const panel = some[i]!;
    const series = chart.series.map((one) => beforeOf(panel, one))
      .filter((one) => one !== undefined);
    const own = { ...chart, series: [...chart.series, ...series] };
    return probed(view, { chart: own, panel });
  });
  const along = axis === undefined ? "by shape" : `over ${axisName(axis)}`;
  const more =
    html`<p class="hint">${MOST} of ${panels.length} panels are drawn:
    filter by shape to see the others.</p>`;
  return html`
    <section class="lines" aria-label="Latency">
      <h3>Median latency ${along}</h3>
      <ul class="legend">${keys.map((entry) => keyOf(view, entry))}</ul>
      <div class="panels">${figures}</div>
      ${panels.length > MOST ? more : undefined}
    </section>
  `;
}

function keyOf({ theme }: View, entry: LegendEntry): Child {
  const size = { width: 20, height: 12, theme, label: "" };
  const { canvas } = drawn(size, (paper) => drawKey(paper, entry, [0, 6]));
  return html`<li>${canvas}${entry.name}</li>`;
}

/** Returns the range of a panel's times in both runs; undefined without any. */
function rangeOf(
  { state }: View,
  shapes: readonly ShownShape[],
): Range | undefined {
  return latencyRange(shapes, {
    ...(state.log && { type: "logarithmic" }),
    also: shapes.flatMap(({ entries }) =>
      entries.flatMap(({ before }) => before ?? [])
    ),
  });
}

/** The stroke of the other run. */
const BEFORE = { dash: [2, 3], width: 1.2 } as const;

/** Returns the curve of a kernel in the other run; undefined without one. */
function beforeOf(
  { items }: Panel<ShownShape>,
  { name, color }: Series,
): Series | undefined {
  const values = items.map(({ entries }) =>
    entries.find(({ kernel }) => kernel === name)?.before
  );
  return values.some((value) => value !== undefined)
    ? { name, color, ...BEFORE, values }
    : undefined;
}

/** A chart in a figure that can be focused, and the shapes of its categories. */
interface Probed {
  readonly chart: CurveChart;
  readonly panel: Panel<ShownShape>;
}

/** The category after a key, from the one before it; -1 is none. */
const KEYS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: (at, last) => Math.min(last, at + 1),
  ArrowLeft: (at) => Math.max(0, at - 1),
  Home: () => 0,
  End: (_, last) => last,
  Escape: () => -1,
};

function probed(view: View, { chart, panel }: Probed): HTMLElement {
  const width = widthOfPanel();
  const label = chart.title === "" ? "All shapes" : chart.title;
  const { canvas, found: { xs, top, bottom } } = drawn({
    width,
    height: HEIGHT,
    theme: view.theme,
    label: `Median latency in microseconds${
      chart.categoryTitle === "" ? "" : ` over ${chart.categoryTitle}`
    }, ${label}`,
  }, (paper) =>
    drawCurves(paper, { ...chart, title: "" }, {
      box: { x: 0, y: 8, width: width - 8, height: HEIGHT - 8 },
    }));
  // Made anew, as it has a state of its own: what is read.
  const figure = document.createElement("figure");
  let at = -1;
  const choose = (to: number) => {
    if (to === at) return;
    at = to;
    const x = xs[at];
    figure.classList.toggle("open", x !== undefined);
    // On the side where the guide is not.
    figure.classList.toggle("late", x !== undefined && x > width / 2);
    show(x);
  };
  const show = (x: number | undefined) => {
    const guide = `left: ${x}px; top: ${top}px; height: ${bottom - top}px`;
    render(
      html`
        <figcaption>${label}</figcaption>
        <div class="picture">
          ${canvas}<div class="guide" .style=${guide}></div>
        </div>
        <div class="readout" aria-live="polite">${x === undefined
          ? undefined
          : readoutOf(view, { chart, panel }, at)}</div>
      `,
      figure,
    );
  };
  figure.className = "chart";
  figure.tabIndex = 0;
  figure.ariaLabel = `${label}: left and right arrows read values, Escape ends`;
  figure.onpointermove = ({ clientX }) =>
    choose(nearest(xs, clientX - canvas.getBoundingClientRect().left));
  figure.onpointerleave = () => choose(-1);
  figure.onblur = () => choose(-1);
  figure.onkeydown = (event) => {
    const to = KEYS[event.key]?.(at, xs.length - 1);
    if (to === undefined) return;
    choose(to);
    event.preventDefault();
  };
  show(undefined);
  return figure;
}

/** Returns the width of a picture in as many columns as there is room for. */
function widthOfPanel(): number {
  const room = byId("charts").clientWidth;
  const columns = Math.max(1, Math.floor((room + GAP) / (LEAST + GAP)));
  return Math.floor((room - GAP * (columns - 1)) / columns) - EDGES;
}

function nearest(xs: readonly number[], x: number): number {
  const distances = xs.map((at) => Math.abs(at - x));
  return distances.indexOf(Math.min(...distances));
}

/** Makes the table of the values of a category, the fastest first. */
function readoutOf(view: View, { chart, panel }: Probed, at: number): Child {
  const { entries } = panel.items[at]!;
  const timed = entries.filter(({ median }) => median !== undefined)
    .toSorted((a, b) => a.median! - b.median!);
  const sol = numberIn(entries.find(({ now }) => now?.sol_us)?.now?.sol_us);
  const caption = [chart.categoryTitle, chart.categories[at]!]
    .filter((text) => text !== "").join(" = ");
  const line = (head: Child, us: number | undefined, ratio: string) =>
    html`
      <tr>
        <th scope="row">${head}</th>
        <td class="number">${microseconds(us)} µs</td>
        <td class="number">${ratio}</td>
      </tr>
    `;
  const lines = timed.map((entry) =>
    line(
      [swatch(view, entry.kernel), entry.kernel],
      entry.median,
      factor(speedupOf(entry, view.baseline)),
    )
  );
  const light = sol === undefined ? undefined : line("speed of light", sol, "");
  return html`
    <table>
      <caption>${caption}</caption>
      <tbody>${lines}${light}</tbody>
    </table>
  `;
}
