/// <reference lib="dom" />
/**
 * A chart that says its values: at the size under the pointer, or that the arrow keys
 * have come to.
 *
 * @module
 */

import type { Frame } from "./chart_frame.ts";
import { el } from "./dom.ts";
import type { Axis, Panel } from "./panels.ts";
import { fillReadout } from "./views/readout_view.ts";
import type { Scale } from "./scale.ts";
import type { View } from "./views/view.ts";

/** A picture and what its places mean. */
export interface Probed {
  readonly panel: Panel;
  readonly axis: Axis;
  readonly x: Scale;
  readonly guide: SVGLineElement;
  readonly picture: SVGSVGElement;
  readonly frame: Frame;
}

/** The picture in a figure that can be focused. */
export function probed(view: View, chart: Probed): HTMLElement {
  const { panel: { sizes, label }, picture } = chart;
  const readout = el("div", { class: "readout", "aria-live": "polite" });
  let chosen = -1;
  const choose = (at: number) => {
    if (at === chosen) return;
    chosen = at;
    show(view, chart, { figure, readout, size: sizes[at] });
  };
  const figure = el(
    "figure",
    {
      class: "chart",
      tabindex: 0,
      "aria-label": `${label}: left and right arrows read values, Escape ends`,
      on: {
        pointermove: (event) => {
          const { clientX, target } = event as PointerEvent;
          if (target instanceof Node && picture.contains(target)) {
            choose(nearest(chart, clientX));
          }
        },
        pointerleave: () => choose(-1),
        blur: () => choose(-1),
        keydown: (event) => {
          const { key } = event as KeyboardEvent;
          const to = target(key, chosen, sizes.length - 1);
          if (to === undefined) return;
          choose(to);
          event.preventDefault();
        },
      },
    },
    el("figcaption", {}, label),
    picture,
    readout,
  );
  return figure;
}

/** Where `key` leads from `chosen`; nothing for keys that mean nothing here. */
function target(key: string, chosen: number, last: number): number | undefined {
  switch (key) {
    case "ArrowRight":
      return Math.min(last, chosen + 1);
    case "ArrowLeft":
      return Math.max(0, chosen - 1);
    case "Home":
      return 0;
    case "End":
      return last;
    case "Escape":
      return -1;
  }
}

function nearest({ panel, picture, frame, x }: Probed, clientX: number) {
  const { left, width } = picture.getBoundingClientRect();
  const place = (clientX - left) / width * frame.width;
  const distances = panel.sizes.map((size) => Math.abs(x.at(size) - place));
  return distances.indexOf(Math.min(...distances));
}

function show(
  view: View,
  { panel, axis, x, guide, frame }: Probed,
  { figure, readout, size }: {
    readonly figure: HTMLElement;
    readonly readout: HTMLElement;
    readonly size: number | undefined;
  },
): void {
  readout.replaceChildren();
  figure.classList.toggle("open", size !== undefined);
  guide.setAttribute("visibility", size === undefined ? "hidden" : "visible");
  if (size === undefined) return;
  guide.setAttribute("x1", `${x.at(size)}`);
  guide.setAttribute("x2", `${x.at(size)}`);
  // On the side where the guide is not.
  figure.classList.toggle("late", x.at(size) > frame.width / 2);
  fillReadout(readout, view, { panel, axis, size });
}
