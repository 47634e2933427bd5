/// <reference lib="dom" />
/**
 * Curves of latency over a size.
 *
 * @module
 */

import { axes, type Frame, frameOf } from "./chart_frame.ts";
import { probed } from "./chart_probe.ts";
import { svg } from "./dom.ts";
import type { Entry } from "./entry.ts";
import { markClass, markPath } from "./marks.ts";
import type { Axis, Panel } from "./panels.ts";
import { type Scale, sizeScale, valueScale } from "./scale.ts";
import { lookOf, type View } from "./views/view.ts";

/** The radius of points. */
const MARK = 3.6;

/** What points are placed by. */
interface Plane {
  readonly axis: Axis;
  readonly x: Scale;
  readonly y: Scale;
}

/** The picture of a panel, with its values under the pointer and the arrow keys. */
export function lineChart(view: View, panel: Panel, axis: Axis): HTMLElement {
  const frame = frameOf();
  const points = panel.curves.flatMap((curve) => curve.points);
  const plane: Plane = {
    axis,
    x: sizeScale(panel.sizes, { from: frame.left, to: frame.right }),
    y: valueScale(valuesOf(points), {
      from: frame.bottom,
      to: frame.top,
      log: view.state.log,
    }),
  };
  const guide = guideOf(frame);
  const picture = svg(
    "svg",
    {
      viewBox: `0 0 ${frame.width} ${frame.height}`,
      role: "img",
      "aria-label":
        `Median latency in microseconds over ${axis.toUpperCase()}, ${panel.label}`,
    },
    axes(plane, { frame, name: axis.toUpperCase() }),
    guide,
    solLine(points, plane),
    panel.curves.map((curve) => drawCurve(view, curve, plane)),
  );
  return probed(view, { panel, axis, x: plane.x, guide, picture, frame });
}

/** Everything that must be within the axis. */
function valuesOf(points: readonly Entry[]): number[] {
  return points.flatMap((e) => [e.median, e.q1, e.q3, e.sol, e.before])
    .filter((value) => value !== undefined);
}

function guideOf({ top, bottom }: Frame): SVGLineElement {
  return svg("line", {
    class: "guide",
    y1: top,
    y2: bottom,
    visibility: "hidden",
  });
}

/** The speed of light, where it is known. */
function solLine(
  points: readonly Entry[],
  { axis, x, y }: Plane,
): Node | undefined {
  const sols = new Map<number, number>();
  for (const e of points) if (e.sol !== undefined) sols.set(e[axis], e.sol);
  if (sols.size < 2) return undefined;
  const line = [...sols].toSorted(([a], [b]) => a - b)
    .map(([size, sol]) => [x.at(size), y.at(sol)] as const);
  return svg("path", { class: "light", d: path(line) });
}

function drawCurve(
  view: View,
  { kernel, points }: Panel["curves"][number],
  { axis, x, y }: Plane,
): Node {
  const { color, mark } = lookOf(view, kernel);
  const at = (e: Entry, us: number | undefined) =>
    us === undefined ? [] : [[x.at(e[axis]), y.at(us)] as const];
  const before = points.flatMap((e) => at(e, e.before));
  return svg(
    "g",
    { class: "curve", vars: { "--color": color } },
    before.length > 1
      ? svg("path", { class: "before", d: path(before) })
      : undefined,
    points.map((e) =>
      e.q1 === undefined || e.q3 === undefined ? undefined : svg("line", {
        class: "range",
        x1: x.at(e[axis]),
        x2: x.at(e[axis]),
        y1: y.at(e.q1),
        y2: y.at(e.q3),
      })
    ),
    svg("path", {
      class: "line",
      d: path(points.flatMap((e) => at(e, e.median))),
    }),
    points.flatMap((e) =>
      at(e, e.median).map(([px, py]) =>
        svg("path", {
          class: markClass(mark),
          d: markPath(mark, MARK),
          transform: `translate(${px.toFixed(1)},${py.toFixed(1)})`,
        })
      )
    ),
  );
}

function path(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y], i) =>
    `${i === 0 ? "M" : "L"}${x.toFixed(1)},${y.toFixed(1)}`
  ).join("");
}
