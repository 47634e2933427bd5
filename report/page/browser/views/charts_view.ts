/// <reference lib="dom" />
/**
 * Pictures of one family of shapes at a time.
 *
 * @module
 */

import { isTimed } from "../compare.ts";
import { byId, type Child, el, refill, select, svg } from "../dom.ts";
import type { Entry } from "../entry.ts";
import { drawHeat } from "./heat_view.ts";
import { lineChart } from "../line_chart.ts";
import { markClass, markPath } from "../marks.ts";
import { type Panels, panelsOf } from "../panels.ts";
import { lookOf, type View } from "./view.ts";

/** Panels that are drawn; more would be a page of their own. */
const MOST = 12;

/** Draws the charts of the chosen family. */
export function drawCharts(view: View): void {
  const families = Map.groupBy(view.shown.filter(isTimed), (e) => e.family);
  const chosen = families.has(view.state.family)
    ? view.state.family
    : [...families.keys()][0] ?? "";
  const entries = families.get(chosen) ?? [];
  const panels = panelsOf(entries);
  refill(
    byId("charts"),
    el("h2", { id: "charts-title", tabindex: -1 }, "Charts"),
    entries.length === 0
      ? el("p", { class: "empty" }, "No row with a time is left to draw.")
      : [
        el(
          "div",
          { class: "fields" },
          familyChoice(view, families, chosen),
          logChoice(view),
        ),
        lines(view, panels, entries),
        drawHeat(view, {
          ...panels,
          panels: panels.panels.slice(0, MOST * MOST),
        }),
      ],
  );
}

function lines(
  view: View,
  { axis, panels }: Panels,
  entries: readonly Entry[],
): Child {
  const drawn = panels.filter(({ sizes }) => sizes.length > 1);
  if (drawn.length === 0) return undefined;
  return el(
    "section",
    { class: "lines", "aria-label": "Latency" },
    el("h3", {}, `Median latency over ${axis.toUpperCase()}`),
    legend(view, entries),
    el(
      "div",
      { class: "panels" },
      drawn.slice(0, MOST).map((panel) => lineChart(view, panel, axis)),
    ),
    drawn.length > MOST
      ? el(
        "p",
        { class: "hint" },
        `${MOST} of ${drawn.length} panels are drawn: filter by shape to see the others.`,
      )
      : undefined,
  );
}

function legend(view: View, entries: readonly Entry[]): Child {
  const kernels = view.book.kernels.filter((name) =>
    entries.some(({ kernel }) => kernel === name)
  );
  const item = (child: Child, text: string) => el("li", {}, child, text);
  const stroke = (name: string) =>
    svg(
      "svg",
      { class: "key", viewBox: "0 0 22 12", "aria-hidden": "true" },
      svg("path", { class: name, d: "M1,6H21" }),
    );
  return el(
    "ul",
    { class: "legend" },
    kernels.map((name) => {
      const { color, mark } = lookOf(view, name);
      return item(
        svg(
          "svg",
          {
            class: "key curve",
            viewBox: "0 0 22 12",
            "aria-hidden": "true",
            vars: { "--color": color },
          },
          svg("path", { class: "line", d: "M1,6H21" }),
          svg("path", {
            class: markClass(mark),
            d: markPath(mark, 3.4),
            transform: "translate(11,6)",
          }),
        ),
        name,
      );
    }),
    entries.some(({ sol }) => sol !== undefined)
      ? item(stroke("light"), "speed of light")
      : undefined,
    view.book.base ? item(stroke("before"), view.book.base.label) : undefined,
  );
}

function familyChoice(
  view: View,
  families: ReadonlyMap<string, readonly Entry[]>,
  chosen: string,
): Child {
  if (families.size < 2) return undefined;
  return select(
    { id: "chart-family", label: "Charts of", value: chosen },
    [...families].map(([family, [first]]) => {
      const { suite = "", device = "", extra = "" } = first ?? {};
      return [
        family,
        [suite, device, extra].filter((part) => part !== "").join(" · "),
      ];
    }),
    (family) => view.update({ family }),
  );
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
