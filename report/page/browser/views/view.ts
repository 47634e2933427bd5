/**
 * The state that every part of the page is drawn from, the colours of kernels, and the parts that
 * tables share.
 *
 * @module
 */

import { html } from "lit-html";
import { type KernelStyle, paletteOf } from "../../../chart/palette.ts";
import type { ThemeName } from "../../../chart/theme.ts";
import type { Book, Entry } from "../book.ts";
import type { Baseline } from "../compare.ts";
import { type Child, ifAny } from "../dom.ts";
import type { State } from "../state.ts";
import { count } from "../text.ts";

/** The state of the page, and what can be done to it. */
export interface View {
  readonly book: Book;
  readonly state: State;
  /** The entries that the filters let through. */
  readonly shown: readonly Entry[];
  readonly baseline: Baseline;
  /** The theme of charts; print is always light. */
  readonly theme: ThemeName;
  /** Makes choices and draws what depends on them. */
  update(patch: Partial<State>): void;
  /** Shows all that is known of a case. */
  open(entry: Entry): void;
}

/** Returns the looks of all kernels in a theme. */
export function looksOf(
  { kernels }: Pick<Book, "kernels">,
  theme: ThemeName,
): ReadonlyMap<string, KernelStyle> {
  return paletteOf(kernels, theme);
}

/** Returns the style that has the colour of each kernel, for either theme, as a variable. */
export function kernelColors(book: Pick<Book, "kernels">): string {
  const list = (theme: ThemeName) => {
    const looks = looksOf(book, theme);
    return book.kernels.map((name, i) => `--k${i}:${looks.get(name)!.color}`)
      .join(";");
  };
  return `:root{${
    list("light")
  }}@media screen and (prefers-color-scheme:dark){:root{${list("dark")}}}`;
}

/** Returns the CSS colour of a kernel. */
export function colorOf({ book }: Pick<View, "book">, kernel: string): string {
  return `var(--k${book.kernels.indexOf(kernel)})`;
}

/** Returns a square in the colour of a kernel. */
export function swatch(view: Pick<View, "book">, kernel: string): Child {
  const style = `--color: ${colorOf(view, kernel)}`;
  return html`<span class="swatch" aria-hidden="true" .style=${style}></span>`;
}

/** Returns the different values of `of` in `entries`, in the order in which they come. */
export function distinct<T>(
  entries: readonly Entry[],
  of: (entry: Entry) => T,
): T[] {
  return [...new Set(entries.map(of))];
}

/** Returns the name of a suite on a device, as the choice of charts has it. */
export function familyOf({ suite, device }: Entry["pivot"]): string {
  return `${suite} · ${device}`;
}

/** A column that a table can be sorted by. */
interface SortHead {
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
export function sortHead(
  { state: { descending }, update }: View,
  { id, text, title, sorted, greatestFirst = false }: SortHead,
): Child {
  const direction = descending ? "descending" : "ascending";
  const arrow = sorted ? (descending ? " ↓" : " ↑") : "";
  const sort = () =>
    update({
      sort: id,
      descending: sorted ? !descending : greatestFirst,
      page: 0,
    });
  return html`
    <th scope="col" aria-sort=${sorted ? direction : "none"}>
      <button type="button" id="sort-${id}" title=${ifAny(title)}
        @click=${sort}
      >${text}<span aria-hidden="true">${arrow}</span></button>
    </th>
  `;
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
  { state, update }: View,
  all: readonly T[],
  { noun, most }: { readonly noun: string; readonly most: number },
  draw: (part: readonly T[]) => Child,
): Child {
  if (all.length === 0) {
    return html`<p class="empty">Nothing is left: loosen the filters or reset them.</p>`;
  }
  const pages = Math.ceil(all.length / most);
  const page = Math.min(state.page, pages - 1);
  const from = page * most;
  const part = all.slice(from, from + most);
  if (pages === 1) return draw(part);
  const step = (id: string, text: string, to: number) => {
    const out = to < 0 || to >= pages || to === page;
    const go = () => update({ page: to });
    return html`
      <button type="button" id="page-${id}" ?disabled=${out}
        @click=${go}>${text}</button>
    `;
  };
  const [first, last] = [from + 1, from + part.length]
    .map((at) => at.toLocaleString("en"));
  return html`
    ${draw(part)}
    <nav class="pager" aria-label="Pages of the table">
      ${step("first", "First", 0)}
      ${step("previous", "Previous", page - 1)}
      <span>${first} to ${last} of ${count(all.length, noun)}</span>
      ${step("next", "Next", page + 1)}
      ${step("last", "Last", pages - 1)}
    </nav>
  `;
}
