/// <reference lib="dom" />
/**
 * Starts the page: reads its data, and draws what depends on a choice when it is made.
 *
 * @module
 */

import { html } from "lit-html";
import type { ThemeName } from "../../chart/theme.ts";
import { bookOf, type Entry, readPageData } from "./book.ts";
import { baselinesOf } from "./compare.ts";
import { byId, fill } from "./dom.ts";
import { filtered, formatState, parseState, type State } from "./state.ts";
import { drawCharts } from "./views/charts_view.ts";
import { openDrill } from "./views/drill_view.ts";
import { drawFilters } from "./views/filters_view.ts";
import { drawPivot } from "./views/pivot_view.ts";
import { drawRows } from "./views/rows_view.ts";
import { drawSummary } from "./views/summary_view.ts";
import { kernelColors, type View } from "./views/view.ts";

/** Milliseconds without a change of the window's size after which charts are drawn anew. */
const PAUSE = 200;

/** Draws the page and keeps it up to date. */
export async function start(): Promise<void> {
  const data = await readPageData(byId("data").textContent ?? "");
  const book = bookOf(data);
  const colors = new CSSStyleSheet();
  colors.replaceSync(kernelColors(book));
  document.adoptedStyleSheets = [colors];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let state = parseState(location.hash.slice(1));

  const view = (theme: ThemeName = dark.matches ? "dark" : "light"): View => ({
    book,
    state,
    shown: filtered(book.entries, state),
    baseline: baselinesOf(book, (suite) => [
      ...(state.baseline === "" ? [] : [state.baseline]),
      ...(Object.hasOwn(data.baselines, suite)
        ? data.baselines[suite]!
        : data.baselines[""] ?? []),
    ]),
    theme,
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
    if (only("family", "log", "all")) return drawCharts(now);
    if (only("sort", "descending", "page", "view")) return drawTable(now);
    drawFilters(now);
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
  // Charts are pixels: they are drawn for one theme and one width.
  dark.addEventListener("change", () => drawCharts(view()));
  addEventListener("beforeprint", () => drawCharts(view("light")));
  addEventListener("afterprint", () => drawCharts(view()));
  let pause: ReturnType<typeof setTimeout> | undefined;
  let width = innerWidth;
  addEventListener("resize", () => {
    clearTimeout(pause);
    // The bars of a phone's browser come and go, and change the height alone.
    if (innerWidth === width) return;
    pause = setTimeout(() => {
      width = innerWidth;
      drawCharts(view());
    }, PAUSE);
  });
  draw(view());
}

/** Draws the table, and the choice of its form. */
function drawTable(view: View): void {
  const tab = (id: State["view"], text: string) => {
    const choose = () =>
      view.update({ view: id, sort: "", descending: false, page: 0 });
    return html`
      <button type="button" id="view-${id}" @click=${choose}
        aria-pressed=${view.state.view === id}>${text}</button>
    `;
  };
  fill(
    "table",
    html`
      <h2 id="table-title" tabindex="-1">Table</h2>
      <div class="views" role="group" aria-label="Form of the table">
        ${tab("pivot", "By shape")}${tab("rows", "All rows")}
      </div>
      ${view.state.view === "pivot" ? drawPivot(view) : drawRows(view)}
    `,
  );
}
