/// <reference lib="dom" />
/**
 * What became of the cases since the other run.
 *
 * @module
 */

import { changeOf } from "../columns.ts";
import { geomean } from "../../../../bench/measure/stats.ts";
import { type Child, el } from "../dom.ts";
import { change, count } from "../text.ts";
import { moodOf, rankOf } from "../verdicts.ts";
import type { View } from "./view.ts";

/** How many cases have which verdict: each is a way to them. */
export function drawVerdicts(view: View): Child {
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
