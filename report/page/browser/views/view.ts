/**
 * The state that every part of the page is drawn from, and the colours of kernels.
 *
 * @module
 */

import { html } from "lit-html";
import { type Look, paletteOf } from "../../../chart/palette.ts";
import type { ThemeName } from "../../../chart/theme.ts";
import type { Book, Entry } from "../book.ts";
import type { Baseline } from "../compare.ts";
import type { Child } from "../dom.ts";
import type { State } from "../state.ts";

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
): ReadonlyMap<string, Look> {
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
