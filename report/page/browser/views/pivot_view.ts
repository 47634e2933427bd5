/// <reference lib="dom" />
/**
 * The pivot: shapes down, kernels across, the fastest marked.
 *
 * @module
 */

import { isTimed } from "../compare.ts";
import { type Child, el, scroller } from "../dom.ts";
import type { Entry } from "../entry.ts";
import { paged } from "./pager_view.ts";
import { pivotOf, type PivotRow } from "../pivot.ts";
import { sortHead } from "./sort_view.ts";
import { moodOf } from "../verdicts.ts";
import { change, factor, microseconds } from "../text.ts";
import { distinct, lookOf, type View } from "./view.ts";

/** The pivot of what is shown. */
export function drawPivot(view: View): Child {
  const { shown, state, book } = view;
  const rows = pivotOf(shown, state);
  const kernels = book.kernels.filter((name) =>
    shown.some(({ kernel }) => kernel === name)
  );
  const several = {
    suite: distinct(shown, ({ suite }) => suite).length > 1,
    device: distinct(shown, ({ device }) => device).length > 1,
  };
  const head = (id: string, text: Child, first = false) =>
    sortHead(view, {
      id,
      text,
      sorted: state.sort === id || (first && state.sort === ""),
    });
  return [
    el(
      "p",
      { class: "hint" },
      "Median in µs, and how many times faster than the baseline. ★ is the fastest kernel of a shape.",
      view.book.base ? " ▲ slower and ▼ faster than in the other run." : "",
    ),
    paged(view, rows, "shape", (part) =>
      scroller(
        "Medians by shape and kernel",
        el(
          "table",
          { class: "pivot" },
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              head("shape", "Shape M×N×K", true),
              kernels.map((name) =>
                head(name, [
                  el("span", {
                    class: "swatch",
                    "aria-hidden": "true",
                    vars: { "--color": lookOf(view, name).color },
                  }),
                  name,
                ])
              ),
            ),
          ),
          el(
            "tbody",
            {},
            part.map((row) => line(view, row, { kernels, several })),
          ),
        ),
      )),
  ];
}

function line(
  view: View,
  row: PivotRow,
  { kernels, several }: {
    readonly kernels: readonly string[];
    readonly several: { readonly suite: boolean; readonly device: boolean };
  },
): Child {
  const { suite, device, shape } = row.first;
  const place = [several.suite ? suite : "", several.device ? device : ""]
    .filter((text) => text !== "").join(" · ");
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      shape,
      place === "" ? undefined : el("small", {}, place),
    ),
    kernels.map((kernel) => {
      const entry = row.cells.get(kernel);
      return entry
        ? cell(view, entry, row.best)
        : el("td", { class: "number" });
    }),
  );
}

function cell(view: View, entry: Entry, best: number | undefined): Child {
  const isBest = isTimed(entry) && entry.median === best;
  const ratio = view.comparison.speedup(entry);
  return el(
    "td",
    { class: `number ${isBest ? "best" : ""}` },
    el(
      "button",
      {
        type: "button",
        class: "cell",
        "aria-label": labelOf(entry, ratio),
        on: { click: () => view.open(entry) },
      },
      entry.median === undefined
        ? el("span", { class: `status ${entry.status}` }, entry.status)
        : el("span", {}, `${isBest ? "★ " : ""}${microseconds(entry.median)}`),
      entry.suspect ? el("small", { class: "bad" }, "suspect") : undefined,
      entry.suspect ? undefined : el("small", {}, factor(ratio)),
      verdictMark(entry),
    ),
  );
}

/** What changed since the other run, where that is worth a look. */
function verdictMark(entry: Entry): Child {
  const { verdict, before, median } = entry;
  // Of a suspect row the cell says so already.
  if (["", "same", "suspect"].includes(verdict)) return undefined;
  const ratio = before === undefined || median === undefined
    ? undefined
    : median / before;
  const text = verdict === "slower"
    ? `▲ ${change(ratio)}`
    : verdict === "faster"
    ? `▼ ${change(ratio)}`
    : verdict;
  return el("small", { class: `mark ${moodOf(verdict)}` }, text);
}

function labelOf(entry: Entry, ratio: number | undefined): string {
  return [
    `${entry.kernel} at ${entry.shape}`,
    entry.median === undefined
      ? entry.status
      : `${microseconds(entry.median)} microseconds`,
    ratio === undefined ? "" : `${ratio.toFixed(2)} times the baseline's speed`,
    entry.verdict,
    "details",
  ].filter((part) => part !== "").join(", ");
}
