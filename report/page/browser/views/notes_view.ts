/// <reference lib="dom" />
/**
 * What failed, and what rows have to say.
 *
 * @module
 */

import { isFailed, placeOf } from "../compare.ts";
import { type Child, el } from "../dom.ts";
import type { Entry } from "../entry.ts";
import { count } from "../text.ts";
import type { View } from "./view.ts";

/** Different failures that are listed before the rest is folded away. */
const MOST = 8;

/** Failures, each different one once; other notes are folded away. */
export function drawNotes(view: View): Child {
  const failures = different(view.shown.filter(isFailed));
  const notes = different(
    view.shown.filter((e) => !isFailed(e) && e.note !== ""),
  );
  if (failures.length + notes.length === 0) return undefined;
  const list = (groups: readonly (readonly Entry[])[]) =>
    el("ul", {}, groups.map((own) => item(view, own)));
  const folded = (groups: readonly (readonly Entry[])[], text: string) =>
    groups.length === 0
      ? undefined
      : el("details", {}, el("summary", {}, text), list(groups));
  const more = failures.slice(MOST);
  return el(
    "section",
    { class: "notes", "aria-label": "Failures and notes" },
    failures.length > 0
      ? [el("h3", {}, "Failures"), list(failures.slice(0, MOST))]
      : undefined,
    folded(more, `${count(more.length, "more failure")}`),
    folded(notes, count(notes.length, "note")),
  );
}

/** Entries that say the same of the same kernel. */
function different(entries: readonly Entry[]): Entry[][] {
  const groups = Map.groupBy(
    entries,
    (e) => JSON.stringify([placeOf(e), e.kernel, e.status, e.note]),
  );
  return [...groups.values()];
}

function item(view: View, own: readonly Entry[]): Child {
  const first = own[0]!;
  return el(
    "li",
    {},
    el("span", { class: `status ${first.status}` }, first.status),
    ` ${first.kernel}, `,
    el(
      "button",
      { type: "button", class: "link", on: { click: () => view.open(first) } },
      first.shape,
    ),
    own.length > 1 ? ` and ${count(own.length - 1, "more shape")}` : "",
    first.note === "" ? "" : `: ${first.note}`,
  );
}
