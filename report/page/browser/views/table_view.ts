/// <reference lib="dom" />
/**
 * Draws the table in the chosen form.
 *
 * @module
 */

import { byId, el, refill } from "../dom.ts";
import type { State } from "../state.ts";
import { drawPivot } from "./pivot_view.ts";
import { drawRows } from "./rows_view.ts";
import type { View } from "./view.ts";

/** Draws the table, and the choice of its form. */
export function drawTable(view: View): void {
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
