/// <reference lib="dom" />
/**
 * Draws the pivot: shapes down, kernels across, the fastest marked, speed-ups coloured.
 *
 * @module
 */

import { html } from "lit-html";
import { type Entry, isTimed, solShareOf } from "../book.ts";
import { leastOf, speedupOf } from "../compare.ts";
import { type Child, scroller } from "../dom.ts";
import { change, factor, microseconds, moodOf, percent } from "../text.ts";
import {
  distinct,
  inOrder,
  paged,
  sortHead,
  swatch,
  type View,
} from "./view.ts";

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
      // One alone is not faster than others.
      best: own.filter(isTimed).length > 1 ? least.get(shape) : undefined,
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
  const several = (["suite", "device"] as const)
    .filter((name) => distinct(shown, (entry) => entry[name]).length > 1);
  const head = (id: string, text: Child, first = false) =>
    sortHead(view, {
      id,
      text,
      sorted: state.sort === id || (first && state.sort === ""),
    });
  const other = book.base
    ? " ▲ slower and ▼ faster than in the other run."
    : "";
  const isCompared = shown.some(({ pivot }) =>
    view.baseline(pivot) !== undefined
  );
  const hint = isCompared
    ? "Median in µs, and how many times faster than the baseline. ★ is the fastest kernel of a shape. The colour is full from half (orange) and twice (blue) the speed on."
    : "Median in µs, and the share of the speed of light that it reaches.";
  return html`
    <p class="hint">${hint}${other}</p>
    ${paged(view, rows, { noun: "shape", most: MOST }, (part) =>
      scroller(
        "Medians by shape and kernel",
        html`
          <table class="pivot">
            <thead>
              <tr>
              ${head("shape", "Shape M×N×K", true)}
              ${kernels.map((name) => head(name, [swatch(view, name), name]))}
            </tr>
            </thead>
            <tbody>${part.map((row) =>
              line(view, row, { kernels, several })
            )}</tbody>
          </table>
        `,
      ))}
  `;
}

function line(
  view: View,
  { first, cells, best }: Line,
  { kernels, several }: {
    readonly kernels: readonly string[];
    readonly several: readonly ("suite" | "device")[];
  },
): Child {
  const place = several.map((name) => first[name]).join(" · ");
  return html`
    <tr>
      <th scope="row">${first.shape.label}${place === ""
        ? undefined
        : html`<small>${place}</small>`}</th>
      ${kernels.map((kernel) => {
        const entry = cells.get(kernel);
        return entry ? cell(view, entry, best) : html`<td class="number"></td>`;
      })}
    </tr>
  `;
}

function cell(view: View, entry: Entry, best: number | undefined): Child {
  const { median, status, suspect } = entry;
  const isBest = isTimed(entry) && median === best;
  const ratio = speedupOf(entry, view.baseline);
  const kind = `number ${isBest ? "best" : ""} ${sideOf(ratio)}`;
  const open = () => view.open(entry);
  return html`
    <td class=${kind} .style=${`--share: ${shareOf(ratio)}%`}>
      <button type="button" class="cell" aria-label=${labelOf(entry, ratio)}
        @click=${open}>
        ${median === undefined
          ? html`<span class="status ${status}">${status}</span>`
          : html`<span>${isBest ? "★ " : ""}${microseconds(median)}</span>`}
        ${suspect
          ? html`<small class="bad">suspect</small>`
          : html`<small>${
            view.baseline(entry.pivot) === undefined
              ? percent(solShareOf(entry))
              : factor(ratio)
          }</small>`}
        ${verdictMark(entry)}
      </button>
    </td>
  `;
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
  return html`<small class="mark ${moodOf(verdict)}">${text}</small>`;
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
