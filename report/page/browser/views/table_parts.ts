/// <reference lib="dom" />
/**
 * Makes parts of tables: heads that sort, and pages, so that ten thousand rows are drawn as
 * fast as a hundred.
 *
 * @module
 */

import { type Child, el } from "../dom.ts";
import { count } from "../text.ts";
import type { View } from "./view.ts";

/** A column that a table can be sorted by. */
export interface SortHead {
  readonly id: string;
  readonly text: Child;
  /** The tooltip. */
  readonly title?: string;
  /** The table is sorted by it now. */
  readonly sorted: boolean;
  /** Sort by the greatest value first. @default {false} */
  readonly greatestFirst?: boolean;
}

/** Makes the head: a button, and the direction for those who do not see the arrow. */
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

/** Orders two values, ascending or descending; what has no value comes last either way. */
export function inOrder(
  a: string | number | undefined,
  b: string | number | undefined,
  descending: boolean,
): number {
  if (a === undefined || b === undefined) {
    return Number(a === undefined) - Number(b === undefined);
  }
  if (a === b) return 0;
  return (a < b) === descending ? 1 : -1;
}

/** Makes the page of `all` that was chosen, as `draw` has it, and the way to the others. */
export function paged<T>(
  view: View,
  all: readonly T[],
  { noun, most }: { readonly noun: string; readonly most: number },
  draw: (part: readonly T[]) => Child,
): Child {
  if (all.length === 0) {
    return el(
      "p",
      { class: "empty" },
      "Nothing is left: loosen the filters or reset them.",
    );
  }
  const pages = Math.ceil(all.length / most);
  const page = Math.min(view.state.page, pages - 1);
  const from = page * most;
  const part = all.slice(from, from + most);
  if (pages === 1) return draw(part);
  const step = (id: string, text: string, to: number) =>
    el("button", {
      type: "button",
      id: `page-${id}`,
      disabled: to < 0 || to >= pages || to === page,
      on: { click: () => view.update({ page: to }) },
    }, text);
  return [
    draw(part),
    el(
      "nav",
      { class: "pager", "aria-label": "Pages of the table" },
      step("first", "First", 0),
      step("previous", "Previous", page - 1),
      el(
        "span",
        {},
        `${(from + 1).toLocaleString("en")} to ${
          (from + part.length).toLocaleString("en")
        } of ${count(all.length, noun)}`,
      ),
      step("next", "Next", page + 1),
      step("last", "Last", pages - 1),
    ),
  ];
}
