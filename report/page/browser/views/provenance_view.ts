/// <reference lib="dom" />
/**
 * Every column of a row, beside that of the other run.
 *
 * @module
 */

import { type Child, el } from "../dom.ts";
import type { Entry } from "../entry.ts";
import type { View } from "./view.ts";

/** Columns that are hardly ever the same and say nothing by it. */
const RESTLESS = ["time", "run"];

/** The columns with a value, by what they say; those that differ are marked. */
export function drawProvenance({ book }: View, { now, base }: Entry): Child {
  const ours = (column: string) =>
    now === undefined ? "" : book.now.text(column, now);
  const theirs = (column: string) =>
    base === undefined ? "" : book.base?.text(column, base) ?? "";
  const both = now !== undefined && base !== undefined;
  const head = book.base === undefined ? undefined : el(
    "thead",
    {},
    el(
      "tr",
      {},
      ["Column", book.now.label, book.base.label].map((text) =>
        el("th", { scope: "col" }, text)
      ),
    ),
  );
  return el(
    "section",
    { "aria-label": "Provenance" },
    el("h3", {}, "Everything in the row"),
    el(
      "table",
      { class: "provenance" },
      head,
      Object.entries(book.wire.groups).map(([group, columns]) =>
        el(
          "tbody",
          {},
          el(
            "tr",
            { class: "group" },
            el("th", { colspan: head ? 3 : 2, scope: "rowgroup" }, group),
          ),
          columns.map((column) => {
            const [a, b] = [ours(column), theirs(column)];
            if (a === "" && b === "") return undefined;
            const differs = both && a !== b && !RESTLESS.includes(column);
            return el(
              "tr",
              { class: differs ? "differs" : undefined },
              el("th", { scope: "row" }, differs ? `${column} ≠` : column),
              el("td", {}, a),
              head ? el("td", {}, b) : undefined,
            );
          }),
        )
      ),
    ),
  );
}
