/// <reference lib="dom" />
/**
 * All that is known of one case, in a dialog: the others at its shape, its samples and its
 * provenance, beside those of the other run.
 *
 * @module
 */

import { changeOf } from "../columns.ts";
import { byId, type Child, el, refill } from "../dom.ts";
import type { Entry } from "../entry.ts";
import { drawProvenance } from "./provenance_view.ts";
import { drawSamples } from "./samples_view.ts";
import { change, factor, microseconds, percent } from "../text.ts";
import { moodOf } from "../verdicts.ts";
import { lookOf, type View } from "./view.ts";

/** Shows `entry`. Escape and the button close it, and the focus goes back. */
export function openDrill(view: View, entry: Entry): void {
  const dialog = byId("drill") as HTMLDialogElement;
  refill(
    dialog,
    el(
      "header",
      {},
      el("h2", { id: "drill-title" }, `${entry.kernel} at ${entry.shape}`),
      el(
        "button",
        {
          type: "button",
          id: "drill-close",
          autofocus: true,
          on: { click: () => dialog.close() },
        },
        "Close",
      ),
    ),
    el("p", {}, `${entry.suite} on ${entry.device}`),
    outcome(view, entry),
    rivals(view, entry),
    drawSamples(view, entry),
    drawProvenance(view, entry),
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function outcome(view: View, entry: Entry): Child {
  const { median, q1, q3, sol, status, note, verdict, why, before } = entry;
  const figures = median === undefined ? [] : [
    `${microseconds(median)} µs`,
    isMean(view, entry) ? "a mean, as no median was published" : "",
    q1 === undefined || q3 === undefined
      ? ""
      : `quartiles ${microseconds(q1)} to ${microseconds(q3)}`,
    sol === undefined ? "" : `${percent(sol / median)} of the speed of light`,
  ].filter((part) => part !== "");
  return [
    el(
      "p",
      { class: "figures" },
      el("span", { class: `status ${status}` }, status),
      ` ${figures.join(" · ")}`,
    ),
    note === "" ? undefined : el("p", { class: "note" }, note),
    entry.suspect
      ? el(
        "p",
        { class: "bad" },
        "Above the speed of light (SOL) with a cold cache: something was still in the cache, or was not done.",
      )
      : undefined,
    verdict === "" ? undefined : el(
      "p",
      {},
      el("span", { class: `verdict ${moodOf(verdict)}` }, verdict),
      before === undefined
        ? ""
        : ` ${microseconds(before)} µs in ${view.book.base?.label ?? ""} ${
          change(changeOf(entry))
        }`,
      why === "" ? "" : ` (${why})`,
    ),
  ];
}

function isMean({ book }: View, { now }: Entry): boolean {
  return now !== undefined && book.now.text("median_us", now) === "";
}

/** Every kernel at the same shape. */
function rivals(view: View, entry: Entry): Child {
  const all = view.book.entries
    .filter(({ problem }) => problem === entry.problem)
    .toSorted((a, b) => (a.median ?? Infinity) - (b.median ?? Infinity));
  const most = Math.max(...all.map(({ median }) => median ?? 0));
  if (all.length < 2) return undefined;
  return el(
    "section",
    { "aria-label": "Kernels at this shape" },
    el("h3", {}, "Kernels at this shape"),
    el(
      "table",
      { class: "rivals" },
      el(
        "tbody",
        {},
        all.map((other, i) =>
          el(
            "tr",
            { class: other === entry ? "chosen" : undefined },
            el(
              "th",
              { scope: "row" },
              other === entry ? other.kernel : el(
                "button",
                {
                  type: "button",
                  id: `rival-${i}`,
                  class: "link",
                  on: { click: () => view.open(other) },
                },
                other.kernel,
              ),
            ),
            el(
              "td",
              { class: "number" },
              other.median === undefined
                ? other.status
                : microseconds(other.median),
            ),
            el(
              "td",
              { class: "bar" },
              el("span", {
                "aria-hidden": "true",
                vars: {
                  "--share": `${(other.median ?? 0) / most * 100}%`,
                  "--color": lookOf(view, other.kernel).color,
                },
              }),
            ),
            el(
              "td",
              { class: "number" },
              factor(view.comparison.speedup(other)),
            ),
          )
        ),
      ),
    ),
  );
}
