/// <reference lib="dom" />
/**
 * Draws what the reader should know first: where, when and how it was measured, who is faster
 * than the baseline by how much, and what failed.
 *
 * @module
 */

import { geomean } from "../../../../bench/measure/stats.ts";
import { changeOf, type Entry, isFailed } from "../book.ts";
import { byId, type Child, el, refill } from "../dom.ts";
import { provenance } from "../provenance.ts";
import { change, count, moodOf, rankOf } from "../text.ts";
import { drawStandings, drawTiles } from "./standings_view.ts";
import { distinct, type View } from "./view.ts";

/** Draws the head line, the tiles, the standings and the failures. */
export function drawSummary(view: View): void {
  refill(
    byId("summary"),
    el("p", { class: "lead" }, lead(view)),
    el(
      "dl",
      { class: "provenance" },
      provenance(view.book).map(([name, text]) => [
        el("dt", {}, name),
        el("dd", {}, text),
      ]),
    ),
    el("ul", { class: "tiles" }, drawTiles(view)),
    drawVerdicts(view),
    drawStandings(view),
    drawNotes(view),
  );
}

function lead(view: View): string {
  const { shown } = view;
  const kernels = distinct(shown, ({ kernel }) => kernel).length;
  const shapes = distinct(shown, ({ shape }) => shape).length;
  const suites = distinct(shown, ({ suite }) => suite);
  return [
    count(shown.length, "row"),
    `: ${count(kernels, "kernel")} at ${count(shapes, "shape")}`,
    suites.length > 1 ? ` in ${count(suites.length, "suite")}` : "",
    `, against ${baselineName(view)}.`,
  ].join("");
}

/** Returns what speed-ups are relative to: one kernel, or each suite's own. */
function baselineName({ baseline, shown }: View): string {
  const pivots = distinct(shown, ({ pivot }) => pivot);
  const names = new Set(
    pivots.map(baseline).filter((name) => name !== undefined),
  );
  if (names.size === 0) return "no baseline";
  return names.size === 1 ? [...names][0]! : "the suite’s baseline";
}

/** Draws how many cases have which verdict: each is a way to them. */
function drawVerdicts(view: View): Child {
  const { book: { now, base }, shown, state } = view;
  if (base === undefined) return undefined;
  const groups = [...Map.groupBy(shown, ({ verdict }) => verdict)]
    .toSorted(([a], [b]) => rankOf(a) - rankOf(b));
  const comparable = shown.filter((e) =>
    e.verdict !== "incomparable" && changeOf(e) !== undefined
  );
  const sound = comparable.filter((e) => !e.suspect && !e.suspectBefore);
  const suspect = comparable.length - sound.length;
  const mean = geomean(
    sound.map(changeOf).filter((ratio) => ratio !== undefined),
  );
  const without = suspect === 0
    ? ""
    : ` ${count(suspect, "case")} above SOL left out.`;
  return el(
    "section",
    { class: "verdicts", "aria-label": "Against the other run" },
    el("h3", {}, `${now.label} against ${base.label}`),
    el(
      "p",
      {},
      mean === undefined
        ? `No case has a time to compare in both runs.${without}`
        : `Geomean ${change(mean)} in time, over the ${
          count(sound.length, "case")
        } of ${shown.length} timed and comparable in both.${without}`,
    ),
    el(
      "ul",
      { class: "chips" },
      groups.map(([verdict, own]) =>
        el(
          "li",
          {},
          el(
            "button",
            {
              type: "button",
              id: `verdict-${verdict}`,
              class: `verdict ${moodOf(verdict)}`,
              "aria-pressed": `${state.verdict === verdict}`,
              on: {
                click: () =>
                  view.update(
                    state.verdict === verdict
                      ? { verdict: "", page: 0 }
                      : { verdict, view: "rows", sort: "", page: 0 },
                  ),
              },
            },
            `${own.length} ${verdict}`,
          ),
        )
      ),
    ),
  );
}

/** Different failures that are listed before the rest is folded away. */
const MOST_FAILURES = 8;

/** Draws failures, each different one once; other notes are folded away. */
function drawNotes(view: View): Child {
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
  const more = failures.slice(MOST_FAILURES);
  return el(
    "section",
    { class: "notes", "aria-label": "Failures and notes" },
    failures.length > 0
      ? [el("h3", {}, "Failures"), list(failures.slice(0, MOST_FAILURES))]
      : undefined,
    folded(more, `${count(more.length, "more failure")}`),
    folded(notes, count(notes.length, "note")),
  );
}

/** Returns entries that say the same of the same kernel. */
function different(entries: readonly Entry[]): Entry[][] {
  const groups = Map.groupBy(
    entries,
    (e) => JSON.stringify([e.suite, e.device, e.kernel, e.status, e.note]),
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
      first.shape.label,
    ),
    own.length > 1 ? ` and ${count(own.length - 1, "more shape")}` : "",
    first.note === "" ? "" : `: ${first.note}`,
  );
}
