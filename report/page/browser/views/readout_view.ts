/// <reference lib="dom" />
/**
 * The values of a chart at one size, the fastest first.
 *
 * @module
 */

import { el } from "../dom.ts";
import type { Axis, Panel } from "../panels.ts";
import { factor, microseconds } from "../text.ts";
import { lookOf, type View } from "./view.ts";

/** Puts the values at `size` into `box`. */
export function fillReadout(
  box: HTMLElement,
  view: View,
  { panel, axis, size }: {
    readonly panel: Panel;
    readonly axis: Axis;
    readonly size: number;
  },
): void {
  const here = panel.curves
    .flatMap(({ points }) => points.filter((e) => e[axis] === size))
    .toSorted((a, b) => (a.median ?? 0) - (b.median ?? 0));
  const sol = here.find((e) => e.sol !== undefined)?.sol;
  box.append(
    el(
      "table",
      {},
      el("caption", {}, `${axis.toUpperCase()} = ${size}`),
      el(
        "tbody",
        {},
        here.map((e) =>
          el(
            "tr",
            {},
            el(
              "th",
              { scope: "row" },
              el("span", {
                class: "swatch",
                "aria-hidden": "true",
                vars: { "--color": lookOf(view, e.kernel).color },
              }),
              e.kernel,
            ),
            el("td", { class: "number" }, `${microseconds(e.median)} µs`),
            el("td", { class: "number" }, factor(view.comparison.speedup(e))),
          )
        ),
        sol === undefined ? undefined : el(
          "tr",
          {},
          el("th", { scope: "row" }, "speed of light"),
          el("td", { class: "number" }, `${microseconds(sol)} µs`),
          el("td", {}),
        ),
      ),
    ),
  );
}
