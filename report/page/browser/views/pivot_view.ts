/// <reference lib="dom" />
/**
 * Draws the pivot: shapes down, kernels across, the fastest marked, speed-ups coloured.
 *
 * @module
 */

import { type Entry, isTimed } from "../book.ts";
import { leastOf, speedupOf } from "../compare.ts";
import { type Child, el, scroller } from "../dom.ts";
import { change, factor, microseconds, moodOf } from "../text.ts";
import { inOrder, paged, sortHead } from "./table_parts.ts";
import { distinct, swatch, type View } from "./view.ts";

/** A speed-up from here on has the full colour: twice as fast, or half. */
const FULL = Math.log(2);
/** Per cent of the full colour, mixed with the paper, so that text on it can be read. */
const STRONGEST = 45;

/** Shapes of a page: each has a cell for every kernel. */
const MOST = 40;

/** The entries of one shape. */
interface Line {
  readonly first: Entry;
  readonly cells: ReadonlyMap<string, Entry>;
  /** Microseconds of the fastest shown kernel. */
  readonly best: number | undefined;
}

/** Returns `entries` by shape, in the order of `sort`: empty or `shape`, or a kernel. */
export function linesOf(
  entries: readonly Entry[],
  { sort, descending }: { readonly sort: string; readonly descending: boolean },
): Line[] {
  const least = leastOf(entries);
  const lines = [...Map.groupBy(entries, ({ shape }) => shape)].map(
    ([shape, own]): Line => ({
      first: own[0]!,
      cells: new Map(own.map((entry) => [entry.kernel, entry])),
      best: least.get(shape),
    }),
  );
  const valueOf = ({ first, cells }: Line): number | undefined => {
    if (sort === "" || sort === "shape") return first.order;
    const entry = cells.get(sort);
    return entry && isTimed(entry) ? entry.median : undefined;
  };
  return lines.toSorted((a, b) => inOrder(valueOf(a), valueOf(b), descending));
}

/** Draws the pivot of what is shown. */
export function drawPivot(view: View): Child {
  const { shown, state, book } = view;
  const rows = linesOf(shown, state);
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
      "Median in µs, and how many times faster than the baseline. ★ is the fastest kernel of a shape. The colour is full from half (orange) and twice (blue) the speed on.",
      view.book.base ? " ▲ slower and ▼ faster than in the other run." : "",
    ),
    paged(view, rows, { noun: "shape", most: MOST }, (part) =>
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
              kernels.map((name) => head(name, [swatch(view, name), name])),
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
  row: Line,
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
      shape.label,
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
  const ratio = speedupOf(entry, view.baseline);
  return el(
    "td",
    {
      class: ["number", isBest ? "best" : "", sideOf(ratio)].join(" "),
      vars: { "--share": `${shareOf(ratio)}%` },
    },
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

/** Returns the class of a speed-up's colour. */
function sideOf(ratio: number | undefined): string {
  return ratio === undefined || ratio === 1
    ? ""
    : ratio > 1
    ? "faster"
    : "slower";
}

/** Returns how strong the colour of a speed-up is, in per cent. */
function shareOf(ratio = 1): string {
  const share = Math.min(1, Math.abs(Math.log(ratio)) / FULL);
  return (share * STRONGEST).toFixed(0);
}

/** Returns what changed since the other run, where that is worth a look. */
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
    `${entry.kernel} at ${entry.shape.label}`,
    entry.median === undefined
      ? entry.status
      : `${microseconds(entry.median)} microseconds`,
    ratio === undefined ? "" : `${ratio.toFixed(2)} times the baseline's speed`,
    entry.verdict,
    "details",
  ].filter((part) => part !== "").join(", ");
}
