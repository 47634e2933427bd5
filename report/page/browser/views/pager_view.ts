/// <reference lib="dom" />
/**
 * Long lists in pages, so that ten thousand rows are drawn as fast as a hundred.
 *
 * @module
 */

import { type Child, el } from "../dom.ts";
import { count } from "../text.ts";
import type { View } from "./view.ts";

/** Rows of a page. */
export const PAGE = 100;

/** The page of `all` that was chosen, as `draw` has it, and the way to the others. */
export function paged<T>(
  view: View,
  all: readonly T[],
  noun: string,
  draw: (part: readonly T[]) => Child,
): Child {
  if (all.length === 0) {
    return el(
      "p",
      { class: "empty" },
      "Nothing is left: loosen the filters or reset them.",
    );
  }
  const pages = Math.ceil(all.length / PAGE);
  const page = Math.min(view.state.page, pages - 1);
  const from = page * PAGE;
  const part = all.slice(from, from + PAGE);
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
