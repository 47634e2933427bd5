/**
 * What every part of the page is drawn from.
 *
 * @module
 */

import { type Comparison, placeOf } from "../compare.ts";
import type { Book, Entry } from "../entry.ts";
import type { State } from "../state.ts";

/** The state of the page, and what can be done to it. */
export interface View {
  readonly book: Book;
  readonly state: State;
  /** What the filters let through. */
  readonly shown: readonly Entry[];
  readonly comparison: Comparison;
  /** Makes choices and draws what depends on them. */
  update(patch: Partial<State>): void;
  /** Shows all that is known of a case. */
  open(entry: Entry): void;
}

/** How a kernel is drawn, the same everywhere. */
export function lookOf(
  { book }: Pick<View, "book">,
  kernel: string,
): { readonly color: string; readonly mark: string } {
  // The label of a kernel that two backends have ends with the backend.
  const name = kernel.replace(/ \([^()]*\)$/, "");
  const { color, mark } = book.wire.looks[kernel] ?? book.wire.looks[name] ??
    { color: "--ink", mark: "circle" };
  return { color: `var(${color})`, mark };
}

/** The different values of `of` in `entries`, in the order in which they come. */
export function distinct(
  entries: readonly Entry[],
  of: (entry: Entry) => string,
): string[] {
  return [...new Set(entries.map(of))];
}

/** What speed-ups are relative to: one kernel, or each suite's own. */
export function baselineName(
  { comparison }: Pick<View, "comparison">,
  entries: readonly Entry[],
): string {
  const names = new Set<string>();
  for (const place of new Set(entries.map(placeOf))) {
    const name = comparison.baselines.get(place);
    if (name !== undefined) names.add(name);
  }
  if (names.size === 0) return "no baseline";
  return names.size === 1 ? [...names][0]! : "the suite’s baseline";
}
