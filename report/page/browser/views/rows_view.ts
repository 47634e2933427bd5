/// <reference lib="dom" />
/**
 * Draws the list of rows, all figures side by side.
 *
 * @module
 */

import { html, nothing } from "lit-html";
import {
  changeOf,
  type Entry,
  numberIn,
  solShareOf,
  spreadOf,
} from "../book.ts";
import { speedupOf } from "../compare.ts";
import { type Child, scroller } from "../dom.ts";
import {
  change as changeText,
  digits,
  factor,
  microseconds,
  moodOf,
  percent,
  rankOf,
} from "../text.ts";
import {
  distinct,
  inOrder,
  paged,
  sortHead,
  swatch,
  type View,
} from "./view.ts";

/** Rows of a page. */
const MOST = 100;

/** Draws the rows that are shown, in the chosen order. */
export function drawRows(view: View): Child {
  const { state, shown } = view;
  const columns = columnsOf(view);
  const sorting = columns.find(({ id }) => id === state.sort) ??
    columns.find(({ id }) => id === "verdict");
  const rows = sorting ? sortedBy(shown, sorting, state.descending) : shown;
  return paged(view, rows, { noun: "row", most: MOST }, (part) =>
    scroller(
      "Rows with all figures",
      html`
        <table class="rows">
          <thead>
            <tr>${columns.map((column) =>
              sortHead(view, {
                ...column,
                text: column.head,
                sorted: column === sorting,
              })
            )}</tr>
          </thead>
          <tbody>${part.map((entry) =>
            html`<tr>${columns.map((column) => cell(view, entry, column))}</tr>`
          )}</tbody>
        </table>
      `,
    ));
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

function cell(
  view: View,
  entry: Entry,
  { id, number, text: of }: Column,
): Child {
  const text = of(entry);
  if (id === "kernel") {
    const label = `${text} at ${entry.shape.label}, details`;
    const open = () => view.open(entry);
    return html`
      <th scope="row">
        <button type="button" class="link" aria-label=${label} @click=${open}
        >${swatch(view, text)}${text}</button>
      </th>
    `;
  }
  if (id === "status") {
    const shown = entry.suspect ? `${text}, suspect` : text;
    const kind = entry.suspect ? "suspect" : text;
    return html`<td><span class="status ${kind}">${shown}</span></td>`;
  }
  if (id === "verdict") {
    return html`<td><span class="verdict ${moodOf(text)}">${text}</span></td>`;
  }
  const kind = number ? "number" : id;
  const title = ["note", "config", "device"].includes(kind) ? text : nothing;
  return html`<td class=${kind} title=${title}>${text}</td>`;
}

/** A column: what rows are sorted by, and what is read. */
interface Column {
  readonly id: string;
  readonly head: string;
  readonly title: string;
  readonly number: boolean;
  /** Sort by the greatest value first. */
  readonly greatestFirst: boolean;
  value(entry: Entry): string | number | undefined;
  text(entry: Entry): string;
}

type Heading = readonly [id: string, head: string, title: string];

/** Makes a column of words, which sort as they are or by `value`. */
function words(
  [id, head, title]: Heading,
  text: (entry: Entry) => string,
  value: Column["value"] = (entry) => text(entry) || undefined,
): Column {
  return { id, head, title, number: false, greatestFirst: false, value, text };
}

/** Makes a column of figures. */
function figure(
  [id, head, title]: Heading,
  value: (entry: Entry) => number | undefined,
  text: (value: number | undefined) => string,
): Column {
  return {
    id,
    head,
    title,
    value,
    number: true,
    greatestFirst: text !== microseconds,
    text: (entry) => text(value(entry)),
  };
}

/** Returns the columns that the book has something for. */
function columnsOf({ book, baseline }: View): Column[] {
  const { entries, base } = book;
  const ifSeveral = (id: "suite" | "device", head: string, title: string) =>
    distinct(entries, (entry) => entry[id]).length > 1
      ? [words([id, head, title], (entry) => entry[id])]
      : [];
  const verdict = ["verdict", "Verdict", "Against the other run"] as const;
  const change = ["change", "Change", "Of the median: more is slower"] as const;
  return [
    ...(base === undefined ? [] : [
      words(verdict, (e) => e.verdict, (e) => rankOf(e.verdict)),
      figure(change, changeOf, changeText),
    ]),
    ...ifSeveral("suite", "Suite", "The suite"),
    ...ifSeveral("device", "Device", "Where it ran"),
    words(["kernel", "Kernel", "The kernel"], (e) => e.kernel),
    words(
      ["shape", "Shape", "M×N×K, and what else differs"],
      ({ shape }) => shape.label,
      ({ order }) => order,
    ),
    words(
      ["status", "Outcome", "ok, or why there is no timing"],
      (e) => e.status,
    ),
    figure(
      ["median", "Median µs", "Of the timed samples"],
      ({ median }) => median,
      microseconds,
    ),
    ...(base === undefined ? [] : [figure(
      ["before", `${base.label} µs`, "Median in the other run"],
      ({ before }) => before,
      microseconds,
    )]),
    figure(
      ["spread", "± quartiles", "Half their range, as a share of the median"],
      spreadOf,
      percent,
    ),
    figure(
      ["speedup", "Speed-up", "How many times faster than the baseline"],
      (entry) => speedupOf(entry, baseline),
      factor,
    ),
    figure(
      ["light", "Of SOL", "The share of the speed of light that is reached"],
      solShareOf,
      percent,
    ),
    figure(
      ["tflops", "TFLOP/s", "10¹² operations a second, of the least work"],
      ({ now }) => numberIn(now?.tflops),
      digits,
    ),
    figure(
      ["gbps", "GB/s", "10⁹ bytes a second, of the least to be moved"],
      ({ now }) => numberIn(now?.gbps),
      digits,
    ),
    words(
      ["config", "Config", "The values of the tunables"],
      ({ now }) => now?.config ?? "",
    ),
    words(["note", "Note", "What the row has to say"], (e) => e.note),
  ];
}
