/// <reference lib="dom" />
/**
 * The heat map: how much faster than the baseline a kernel is, shape by shape, or which
 * kernel is the fastest.
 *
 * @module
 */

import { type Child, el, scroller, select } from "../dom.ts";
import type { Entry } from "../entry.ts";
import type { Panels } from "../panels.ts";
import { factor, microseconds } from "../text.ts";
import { distinct, lookOf, type View } from "./view.ts";

/** Speed-ups from here on have the full colour: twice as fast, or half. */
const FULL = Math.log2(2);
/** The full colour is mixed with the paper, so that text on it can be read. */
const STRONGEST = 72;

/** The heat map of `panels`, with the choice of its kernel. */
export function drawHeat(view: View, { axis, panels }: Panels): Child {
  const kernels = distinct(
    panels.flatMap(({ curves }) => curves.flatMap(({ points }) => points)),
    ({ kernel }) => kernel,
  );
  const chosen = kernels.includes(view.state.heat) ? view.state.heat : "";
  const sizes = [...new Set(panels.flatMap((panel) => panel.sizes))]
    .toSorted((a, b) => a - b);
  return el(
    "section",
    { class: "heat", "aria-label": "Heat map" },
    el("h3", {}, "Speed-up by shape"),
    select(
      { id: "heat-kernel", label: "Kernel", value: chosen },
      [
        ["", "The fastest at each shape"],
        ...kernels.map((k) => [k, k] as const),
      ],
      (heat) => view.update({ heat }),
    ),
    scroller(
      "Speed-up by shape",
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("td", {}),
            sizes.map((size) =>
              el("th", { scope: "col" }, `${axis.toUpperCase()} = ${size}`)
            ),
          ),
        ),
        el(
          "tbody",
          {},
          panels.map((panel) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, panel.label),
              sizes.map((size) => {
                const here = panel.curves
                  .filter(({ kernel }) => chosen === "" || kernel === chosen)
                  .flatMap(({ points }) => points)
                  .filter((entry) => entry[axis] === size)
                  .toSorted((a, b) => (a.median ?? 0) - (b.median ?? 0))[0];
                return here
                  ? cell(view, here, chosen === "")
                  : el("td", { class: "void" });
              }),
            )
          ),
        ),
      ),
    ),
    el(
      "p",
      { class: "legend" },
      el("span", { class: "scale", "aria-hidden": "true" }),
      "0.5× and slower to 2× and faster than the baseline; no colour is the same speed. Latency in µs in small print.",
    ),
  );
}

function cell(view: View, entry: Entry, named: boolean): HTMLElement {
  const ratio = view.comparison.speedup(entry);
  const logs = ratio === undefined ? 0 : Math.log2(ratio) / FULL;
  const share = Math.min(1, Math.abs(logs)) * STRONGEST;
  return el(
    "td",
    {
      vars: {
        "--share": `${share.toFixed(0)}%`,
        "--side": logs < 0 ? "var(--slower)" : "var(--faster)",
      },
    },
    el(
      "button",
      {
        type: "button",
        class: "cell",
        "aria-label": `${entry.kernel} at ${entry.shape}: ${factor(ratio)}, ${
          microseconds(entry.median)
        } microseconds, details`,
        on: { click: () => view.open(entry) },
      },
      el("span", {}, factor(ratio) || "–"),
      named
        ? el(
          "small",
          { class: "name" },
          el("span", {
            class: "swatch",
            vars: { "--color": lookOf(view, entry.kernel).color },
          }),
          entry.kernel,
        )
        : undefined,
      el("small", {}, microseconds(entry.median)),
    ),
  );
}
