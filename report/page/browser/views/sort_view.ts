/// <reference lib="dom" />
/**
 * Heads of columns that sort.
 *
 * @module
 */

import { type Child, el } from "../dom.ts";
import type { View } from "./view.ts";

/** A column that a table can be sorted by. */
export interface SortHead {
  readonly id: string;
  readonly text: Child;
  /** Said when the pointer rests on it. */
  readonly title?: string;
  /** Whether the table is sorted by it now. */
  readonly sorted: boolean;
  /** Where the greatest is what one looks for first. */
  readonly greatestFirst?: boolean;
}

/** The head: a button, and the direction for those who do not see the arrow. */
export function sortHead(view: View, head: SortHead): HTMLElement {
  const { state: { descending } } = view;
  const direction = descending ? "descending" : "ascending";
  const arrow = head.sorted ? (descending ? " ↓" : " ↑") : "";
  return el(
    "th",
    { scope: "col", "aria-sort": head.sorted ? direction : "none" },
    el(
      "button",
      {
        type: "button",
        id: `sort-${head.id}`,
        title: head.title,
        on: {
          click: () =>
            view.update({
              sort: head.id,
              descending: head.sorted
                ? !descending
                : head.greatestFirst ?? false,
              page: 0,
            }),
        },
      },
      head.text,
      el("span", { "aria-hidden": "true" }, arrow),
    ),
  );
}
