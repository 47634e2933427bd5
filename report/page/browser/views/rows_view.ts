/// <reference lib="dom" />
/**
 * The list of rows, all figures side by side.
 *
 * @module
 */

import { type Column, columnsOf } from "../columns.ts";
import { type Child, el, scroller } from "../dom.ts";
import type { Entry } from "../entry.ts";
import { paged } from "./pager_view.ts";
import { inOrder } from "../pivot.ts";
import { sortHead } from "./sort_view.ts";
import { moodOf } from "../verdicts.ts";
import { lookOf, type View } from "./view.ts";

/** The rows that are shown, in the chosen order. */
export function drawRows(view: View): Child {
  const { state, shown, book, comparison } = view;
  const columns = columnsOf(book, comparison);
  const sorting = columns.find(({ id }) => id === state.sort) ??
    columns.find(({ id }) => id === "verdict");
  const rows = sorting ? sortedBy(shown, sorting, state.descending) : shown;
  return paged(
    view,
    rows,
    "row",
    (part) =>
      scroller(
        "Rows with all figures",
        el(
          "table",
          { class: "rows" },
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              columns.map((column) =>
                sortHead(view, {
                  id: column.id,
                  text: column.head,
                  title: column.title,
                  sorted: column === sorting,
                  greatestFirst: column.greatestFirst ?? false,
                })
              ),
            ),
          ),
          el("tbody", {}, part.map((entry) => line(view, entry, columns))),
        ),
      ),
  );
}

/** `entries` by the value of `column`; equal ones, and those without, as they came. */
export function sortedBy(
  entries: readonly Entry[],
  column: Column,
  descending: boolean,
): Entry[] {
  const valued = entries.map((entry) => ({
    entry,
    value: column.value(entry),
  }));
  return valued
    .toSorted((a, b) => inOrder(a.value, b.value, descending))
    .map(({ entry }) => entry);
}

function line(
  view: View,
  entry: Entry,
  columns: readonly Column[],
): Child {
  return el(
    "tr",
    { class: entry.suspect ? "suspect" : undefined },
    columns.map((column) => cell(view, entry, column)),
  );
}

function cell(view: View, entry: Entry, column: Column): Child {
  const text = column.text(entry);
  if (column.id === "kernel") {
    return el(
      "th",
      { scope: "row" },
      el(
        "button",
        {
          type: "button",
          class: "link",
          "aria-label": `${entry.kernel} at ${entry.shape}, details`,
          on: { click: () => view.open(entry) },
        },
        el("span", {
          class: "swatch",
          "aria-hidden": "true",
          vars: { "--color": lookOf(view, entry.kernel).color },
        }),
        text,
      ),
    );
  }
  if (column.id === "status") {
    const shown = entry.suspect ? `${text}, suspect` : text;
    return el(
      "td",
      {},
      el(
        "span",
        { class: `status ${entry.suspect ? "suspect" : text}` },
        shown,
      ),
    );
  }
  if (column.id === "verdict") {
    return el(
      "td",
      {},
      text === ""
        ? undefined
        : el("span", { class: `verdict ${moodOf(text)}` }, text),
    );
  }
  const kind = column.number ? "number" : column.id;
  return el(
    "td",
    {
      class: kind,
      title: ["note", "config", "device"].includes(kind) ? text : undefined,
    },
    text,
  );
}
