/// <reference lib="dom" />
/**
 * The page: reads its data, and draws what depends on a choice when it is made.
 *
 * @module
 */

import { drawCharts } from "./views/charts_view.ts";
import { Comparison } from "./compare.ts";
import { byId, el, refill } from "./dom.ts";
import { openDrill } from "./views/drill_view.ts";
import { bookOf, type Entry } from "./entry.ts";
import { filtered } from "./filter.ts";
import { drawFilters, drawShown } from "./views/filters_view.ts";
import { drawPivot } from "./views/pivot_view.ts";
import { drawRows } from "./views/rows_view.ts";
import { formatState, parseState, type State } from "./state.ts";
import { drawSummary } from "./views/summary_view.ts";
import type { View } from "./views/view.ts";
import type { PageData } from "./page_data.ts";

/** Draws the page and keeps it up to date. */
export function start(): void {
  const wire = JSON.parse(byId("data").textContent ?? "") as PageData;
  const book = bookOf(wire);
  let state = parseState(location.hash.slice(1));

  const view = (): View => ({
    book,
    state,
    shown: filtered(book.entries, state),
    comparison: new Comparison(
      book.entries,
      (suite) => [
        ...(state.baseline === "" ? [] : [state.baseline]),
        ...(Object.hasOwn(wire.baselines, suite)
          ? wire.baselines[suite]!
          : wire.baselines[""] ?? []),
      ],
    ),
    update,
    open: (entry: Entry) => openDrill(view(), entry),
  });

  function update(patch: Partial<State>): void {
    const before = state;
    state = { ...state, ...patch };
    const text = formatState(state);
    // In place: every choice in the history would make the way back long.
    if (location.hash.slice(1) !== text) location.replace(`#${text}`);
    draw(view(), before);
  }

  /** Draws what the step from `before` changes. */
  function draw(now: View, before?: State): void {
    const only = (...names: (keyof State)[]) =>
      before !== undefined &&
      (Object.keys(before) as (keyof State)[]).every((name) =>
        names.includes(name) || before[name] === now.state[name]
      );
    if (only("family", "heat", "log")) return drawCharts(now);
    if (only("sort", "descending", "page", "view")) return drawTable(now);
    // What is typed stays where it is; a box that is drawn anew would lose the caret.
    if (only("shape", "page")) drawShown(now);
    else drawFilters(now);
    drawTable(now);
    drawSummary(now);
    if (before === undefined) {
      // The table is what one waits for: it is on the screen before the charts.
      requestAnimationFrame(() => {
        performance.mark("first-table");
        setTimeout(() => {
          drawCharts(view());
          performance.mark("first-charts");
        });
      });
    } else drawCharts(now);
  }

  addEventListener("hashchange", () => {
    const text = location.hash.slice(1);
    // A link to a part of the page, such as #charts-title, is no choice.
    if (text === formatState(state) || /^[\w-]+$/.test(text)) return;
    state = parseState(text);
    draw(view());
  });
  draw(view());
}

function drawTable(view: View): void {
  const tab = (id: State["view"], text: string) =>
    el("button", {
      type: "button",
      id: `view-${id}`,
      "aria-pressed": `${view.state.view === id}`,
      on: {
        click: () =>
          view.update({ view: id, sort: "", descending: false, page: 0 }),
      },
    }, text);
  refill(
    byId("table"),
    el("h2", { id: "table-title", tabindex: -1 }, "Table"),
    el(
      "div",
      { class: "views", role: "group", "aria-label": "Form of the table" },
      tab("pivot", "By shape"),
      tab("rows", "All rows"),
    ),
    view.state.view === "pivot" ? drawPivot(view) : drawRows(view),
  );
}
