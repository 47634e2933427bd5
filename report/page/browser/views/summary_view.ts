/// <reference lib="dom" />
/**
 * What the reader should know first: where, when and how it was measured, who is faster
 * than the baseline by how much, and what failed.
 *
 * @module
 */

import { byId, el, refill } from "../dom.ts";
import { drawNotes } from "./notes_view.ts";
import { provenance } from "../provenance.ts";
import { drawStandings } from "./standings_view.ts";
import { count } from "../text.ts";
import { drawTiles } from "./tiles_view.ts";
import { drawVerdicts } from "./verdicts_view.ts";
import { baselineName, distinct, type View } from "./view.ts";

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
  const problems = distinct(shown, ({ problem }) => problem).length;
  const suites = distinct(shown, ({ suite }) => suite);
  return [
    count(shown.length, "row"),
    `: ${count(kernels, "kernel")} at ${count(problems, "shape")}`,
    suites.length > 1 ? ` in ${count(suites.length, "suite")}` : "",
    `, against ${baselineName(view, shown)}.`,
  ].join("");
}
