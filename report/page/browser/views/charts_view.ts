/// <reference lib="dom" />
/**
 * Draws the charts of one suite and device at a time, with their values under the pointer and
 * the arrow keys.
 *
 * @module
 */

import {
  type CurveChart,
  drawCurves,
  type Series,
} from "../../../chart/curves.ts";
import { latencyCharts, latencyRange, legendOf } from "../../../chart/data.ts";
import { drawKey, type LegendEntry } from "../../../chart/marks.ts";
import { axisName, type Panel, panelsOf } from "../../../chart/panels.ts";
import { THEMES } from "../../../chart/theme.ts";
import type { Range } from "../../../model/scale.ts";
import { type Entry, numberIn } from "../book.ts";
import { speedupOf } from "../compare.ts";
import { byId, type Child, el, refill, select } from "../dom.ts";
import { factor, microseconds } from "../text.ts";
import { drawn } from "./canvas.ts";
import { distinct, looksOf, swatch, type View } from "./view.ts";

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
  const chosen = pivots.find((pivot) => nameOf(pivot) === view.state.family) ??
    pivots[0];
  const entries = view.shown.filter(({ pivot }) => pivot === chosen);
  refill(
    byId("charts"),
    el("h2", { id: "charts-title", tabindex: -1 }, "Charts"),
    chosen === undefined
      ? el("p", { class: "empty" }, "No row with a time is left to draw.")
      : [
        el(
          "div",
          { class: "fields" },
          pivots.length < 2 ? undefined : select(
            { id: "chart-family", label: "Charts of", value: nameOf(chosen) },
            pivots.map((pivot) => [nameOf(pivot), nameOf(pivot)]),
            (family) => view.update({ family }),
          ),
          logChoice(view),
        ),
        drawLines(view, entries),
      ],
  );
}

function nameOf({ suite, device }: Entry["pivot"]): string {
  return `${suite} · ${device}`;
}

function logChoice(view: View): Child {
  const box = el("input", {
    type: "checkbox",
    id: "chart-log",
    checked: view.state.log,
    on: { change: () => view.update({ log: box.checked }) },
  });
  return el("label", { class: "chip" }, box, "Logarithmic latency");
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
  const drawn = panels.slice(0, MOST);
  const charts = latencyCharts({ axis, panels: drawn, values: [] }, {
    legend,
    rangeOf: ({ items }) => rangeOf(view, items)!,
  });
  const before = { name: view.book.base?.label ?? "", color: theme.dim };
  return el(
    "section",
    { class: "lines", "aria-label": "Latency" },
    el(
      "h3",
      {},
      axis === undefined
        ? "Median latency by shape"
        : `Median latency over ${axisName(axis)}`,
    ),
    drawLegend(view, [
      ...legend,
      ...(view.book.base ? [{ ...before, ...BEFORE }] : []),
    ]),
    el(
      "div",
      { class: "panels" },
      charts.map((chart, i) => {
        const panel = drawn[i]!;
        const series = chart.series
          .map((one) => beforeOf(panel, one))
          .filter((one) => one !== undefined);
        const own = { ...chart, series: [...chart.series, ...series] };
        return probed(view, { chart: own, panel });
      }),
    ),
    panels.length > MOST
      ? el(
        "p",
        { class: "hint" },
        `${MOST} of ${panels.length} panels are drawn: filter by shape to see the others.`,
      )
      : undefined,
  );
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

function drawLegend(view: View, legend: readonly LegendEntry[]): Child {
  return el(
    "ul",
    { class: "legend" },
    legend.map((entry) => {
      const size = { width: 20, height: 12, theme: view.theme, label: "" };
      const { canvas } = drawn(size, (paper) => drawKey(paper, entry, [0, 6]));
      return el("li", {}, canvas, entry.name);
    }),
  );
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
  const readout = el("div", { class: "readout", "aria-live": "polite" });
  const guide = el("div", { class: "guide" });
  let at = -1;
  const choose = (to: number) => {
    if (to === at) return;
    at = to;
    const x = xs[at];
    figure.classList.toggle("open", x !== undefined);
    readout.replaceChildren();
    if (x === undefined) return;
    const place = { left: x, top, height: bottom - top };
    for (const [name, value] of Object.entries(place)) {
      guide.style.setProperty(name, `${value}px`);
    }
    // On the side where the guide is not.
    figure.classList.toggle("late", x > width / 2);
    readout.append(readoutOf(view, { chart, panel }, at));
  };
  const figure = el(
    "figure",
    {
      class: "chart",
      tabindex: 0,
      "aria-label": `${label}: left and right arrows read values, Escape ends`,
      on: {
        pointermove: (event) => {
          const { clientX } = event as PointerEvent;
          const from = canvas.getBoundingClientRect().left;
          choose(nearest(xs, clientX - from));
        },
        pointerleave: () => choose(-1),
        blur: () => choose(-1),
        keydown: (event) => {
          const { key } = event as KeyboardEvent;
          const to = KEYS[key]?.(at, xs.length - 1);
          if (to === undefined) return;
          choose(to);
          event.preventDefault();
        },
      },
    },
    el("figcaption", {}, label),
    el("div", { class: "picture" }, canvas, guide),
    readout,
  );
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
function readoutOf(view: View, { chart, panel }: Probed, at: number): Node {
  const { entries } = panel.items[at]!;
  const timed = entries.filter(({ median }) => median !== undefined)
    .toSorted((a, b) => a.median! - b.median!);
  const sol = numberIn(entries.find(({ now }) => now?.sol_us)?.now?.sol_us);
  const caption = [chart.categoryTitle, chart.categories[at]!]
    .filter((text) => text !== "").join(" = ");
  const line = (head: Child, us: number | undefined, ratio: string) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, head),
      el("td", { class: "number" }, `${microseconds(us)} µs`),
      el("td", { class: "number" }, ratio),
    );
  return el(
    "table",
    {},
    el("caption", {}, caption),
    el(
      "tbody",
      {},
      timed.map((entry) =>
        line(
          [swatch(view, entry.kernel), entry.kernel],
          entry.median,
          factor(speedupOf(entry, view.baseline)),
        )
      ),
      sol === undefined ? undefined : line("speed of light", sol, ""),
    ),
  );
}
