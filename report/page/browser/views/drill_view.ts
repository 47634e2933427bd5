/// <reference lib="dom" />
/**
 * Shows all that is known of one case in a dialog: the others at its shape, its samples and its
 * provenance, beside those of the other run.
 *
 * @module
 */

import { changeOf, type Entry, numberIn, solShareOf } from "../book.ts";
import { speedupOf } from "../compare.ts";
import { byId, type Child, el, refill } from "../dom.ts";
import { change, factor, microseconds, moodOf, percent } from "../text.ts";
import { drawSamples } from "./samples_view.ts";
import { colorOf, type View } from "./view.ts";

/** Shows `entry`. Escape and the button close it, and the focus goes back. */
export function openDrill(view: View, entry: Entry): void {
  const dialog = byId("drill") as HTMLDialogElement;
  refill(
    dialog,
    el(
      "header",
      {},
      el(
        "h2",
        { id: "drill-title" },
        `${entry.kernel} at ${entry.shape.label}`,
      ),
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
  const { now, median, status, note, verdict, why, before } = entry;
  const [q1, q3] = [numberIn(now?.q1_us), numberIn(now?.q3_us)];
  const share = solShareOf(entry);
  const figures = median === undefined ? [] : [
    `${microseconds(median)} µs`,
    now?.median_us === "" ? "a mean, as no median was published" : "",
    q1 === undefined || q3 === undefined
      ? ""
      : `quartiles ${microseconds(q1)} to ${microseconds(q3)}`,
    share === undefined ? "" : `${percent(share)} of the speed of light`,
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

/** Makes the table of every kernel at the same shape. */
function rivals(view: View, entry: Entry): Child {
  const all = view.book.entries
    .filter(({ shape }) => shape === entry.shape)
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
                  "--color": colorOf(view, other.kernel),
                },
              }),
            ),
            el(
              "td",
              { class: "number" },
              factor(speedupOf(other, view.baseline)),
            ),
          )
        ),
      ),
    ),
  );
}

/** Columns that are hardly ever the same and say nothing by it. */
const RESTLESS = ["time", "run"];

/** Makes the table of the columns with a value, by what they say; those that differ are marked. */
function drawProvenance({ book }: View, { now, base }: Entry): Child {
  const both = now !== undefined && base !== undefined;
  const head = book.base === undefined ? undefined : el(
    "thead",
    {},
    el(
      "tr",
      {},
      ["Column", book.now.label, book.base.label].map((text) =>
        el("th", { scope: "col" }, text)
      ),
    ),
  );
  return el(
    "section",
    { "aria-label": "Provenance" },
    el("h3", {}, "Everything in the row"),
    el(
      "table",
      { class: "provenance" },
      head,
      Object.entries(book.data.groups).map(([group, columns]) =>
        el(
          "tbody",
          {},
          el(
            "tr",
            { class: "group" },
            el("th", { colspan: head ? 3 : 2, scope: "rowgroup" }, group),
          ),
          columns.map((column) => {
            const a = now ? book.now.fieldOf(now, column) : "";
            const b = base ? book.base!.fieldOf(base, column) : "";
            if (a === "" && b === "") return undefined;
            const differs = both && a !== b && !RESTLESS.includes(column);
            return el(
              "tr",
              { class: differs ? "differs" : undefined },
              el("th", { scope: "row" }, differs ? `${column} ≠` : column),
              el("td", {}, a),
              head ? el("td", {}, b) : undefined,
            );
          }),
        )
      ),
    ),
  );
}
