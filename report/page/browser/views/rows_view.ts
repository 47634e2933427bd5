/// <reference lib="dom" />
/**
 * Draws the list of rows, all figures side by side.
 *
 * @module
 */

import {
  changeOf,
  type Entry,
  numberIn,
  solShareOf,
  spreadOf,
} from "../book.ts";
import { speedupOf } from "../compare.ts";
import { type Child, el, scroller } from "../dom.ts";
import {
  change,
  digits,
  factor,
  microseconds,
  moodOf,
  percent,
  rankOf,
} from "../text.ts";
import { inOrder, paged, sortHead } from "./table_parts.ts";
import { swatch, type View } from "./view.ts";

/** Rows of a page. */
const MOST = 100;

/** Draws the rows that are shown, in the chosen order. */
export function drawRows(view: View): Child {
  const { state, shown } = view;
  const columns = columnsOf(view);
  const sorting = columns.find(({ id }) => id === state.sort) ??
    columns.find(({ id }) => id === "verdict");
  const rows = sorting ? sortedBy(shown, sorting, state.descending) : shown;
  return paged(
    view,
    rows,
    { noun: "row", most: MOST },
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

/** Returns `entries` by the value of `column`; equal ones, and those without, as they came. */
function sortedBy(
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
          "aria-label": `${entry.kernel} at ${entry.shape.label}, details`,
          on: { click: () => view.open(entry) },
        },
        swatch(view, entry.kernel),
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

/** A column: what rows are sorted by, and what is read. */
interface Column {
  readonly id: string;
  readonly head: string;
  readonly title: string;
  readonly number: boolean;
  /** Sort by the greatest value first. @default {false} */
  readonly greatestFirst?: boolean;
  value(entry: Entry): string | number | undefined;
  text(entry: Entry): string;
}

function words(
  id: keyof Entry & ("suite" | "device" | "kernel" | "status" | "note"),
  head: string,
  title: string,
): Column {
  return {
    id,
    head,
    title,
    number: false,
    value: (entry) => entry[id] || undefined,
    text: (entry) => entry[id],
  };
}

function figure(
  column: Pick<Column, "id" | "head" | "title" | "value" | "greatestFirst">,
  text: (value: number | undefined) => string,
): Column {
  return {
    ...column,
    number: true,
    text: (entry) => {
      const value = column.value(entry);
      return text(typeof value === "number" ? value : undefined);
    },
  };
}

/** Returns the columns that the book has something for. */
function columnsOf({ book, baseline }: View): Column[] {
  const { entries } = book;
  const several = (of: (entry: Entry) => string) =>
    new Set(entries.map(of)).size > 1;
  const fromRow = (column: "tflops" | "gbps") => ({ now }: Entry) =>
    numberIn(now?.[column]);
  const pair: Column[] = book.base === undefined ? [] : [
    {
      id: "verdict",
      head: "Verdict",
      title: "What became of the case since the other run",
      number: false,
      value: (entry) => rankOf(entry.verdict),
      text: ({ verdict }) => verdict,
    },
    figure({
      id: "change",
      head: "Change",
      title: "Of the median since the other run: more is slower",
      greatestFirst: true,
      value: changeOf,
    }, change),
    figure({
      id: "before",
      head: `${book.base.label} µs`,
      title: "Median in the other run",
      value: ({ before }) => before,
    }, microseconds),
  ];
  return [
    ...pair.slice(0, 2),
    ...(several((e) => e.suite) ? [words("suite", "Suite", "The suite")] : []),
    ...(several((e) => e.device)
      ? [words("device", "Device", "Where it ran")]
      : []),
    words("kernel", "Kernel", "The kernel"),
    {
      id: "shape",
      head: "Shape",
      title: "M×N×K, and what else differs",
      number: false,
      value: ({ order }) => order,
      text: ({ shape }) => shape.label,
    },
    words("status", "Outcome", "ok, or why there is no timing"),
    figure({
      id: "median",
      head: "Median µs",
      title: "Of the timed samples",
      value: ({ median }) => median,
    }, microseconds),
    ...pair.slice(2),
    figure({
      id: "spread",
      head: "± quartiles",
      title: "Half the range between the quartiles, as a share of the median",
      greatestFirst: true,
      value: spreadOf,
    }, percent),
    figure({
      id: "speedup",
      head: "Speed-up",
      title: "How many times faster than the baseline",
      greatestFirst: true,
      value: (entry) => speedupOf(entry, baseline),
    }, factor),
    figure({
      id: "light",
      head: "Of SOL",
      title: "The share of the speed of light that is reached",
      greatestFirst: true,
      value: solShareOf,
    }, percent),
    figure({
      id: "tflops",
      head: "TFLOP/s",
      title: "10¹² operations a second, of the least work that there is",
      greatestFirst: true,
      value: fromRow("tflops"),
    }, digits),
    figure({
      id: "gbps",
      head: "GB/s",
      title: "10⁹ bytes a second, of the least that must be moved",
      greatestFirst: true,
      value: fromRow("gbps"),
    }, digits),
    {
      id: "config",
      head: "Config",
      title: "The values of the tunables",
      number: false,
      value: ({ now }) => now?.config || undefined,
      text: ({ now }) => now?.config ?? "",
    },
    words("note", "Note", "What the row has to say"),
  ];
}
