/**
 * Points of charts: the mark of each kernel, and a cross where there is no time.
 *
 * @module
 */

import { drawPoint, type DrawPointOptions } from "chart.js/helpers";
import type { Look, Mark } from "./palette.ts";
import type { LineStyle, Paper, Place } from "./paper.ts";

/** chart.js's shape of a mark, how often its radius it has, and how far it is turned. */
const SHAPES: Readonly<
  Record<Mark, readonly [DrawPointOptions["pointStyle"], number, number?]>
> = {
  circle: ["circle", 1],
  ring: ["circle", 0.85],
  rect: ["rect", 1.25],
  rectHollow: ["rect", 1.1],
  triangle: ["triangle", 1.2],
  triangleHollow: ["triangle", 1.05],
  triangleDown: ["triangle", 1.2, 180],
  triangleDownHollow: ["triangle", 1.05, 180],
  rectRot: ["rectRot", 1.2],
  rectRotHollow: ["rectRot", 1.05],
  bar: ["line", 1.4],
};

/** A name in a legend, and how it is drawn. */
export interface LegendEntry extends LineStyle {
  readonly name: string;
  readonly color: string;
  /** @default {none} */
  readonly mark?: Mark;
}

/** Draws the mark of a kernel around a place; `size` is about its radius in CSS pixels. */
export function drawMark(
  { pen, theme }: Paper,
  [x, y]: Place,
  { mark, color, size = 4 }: Look & { readonly size?: number },
): void {
  const [pointStyle, reach, rotation = 0] = SHAPES[mark];
  const hollow = mark === "ring" || mark.endsWith("Hollow");
  pen.save();
  pen.fillStyle = hollow ? theme.paper : color;
  pen.strokeStyle = color;
  // The stroke of a hollow mark lies half outside.
  const borderWidth = mark === "bar" ? size : hollow ? size * 0.4 : 0;
  pen.lineWidth = borderWidth;
  const radius = reach * size;
  drawPoint(
    pen as never,
    { pointStyle, rotation, radius, borderWidth },
    x,
    y,
  );
  pen.restore();
}

/** Draws a cross around a place, which no kernel has for a mark: no time. */
export function drawCross(paper: Paper, [x, y]: Place, color: string): void {
  const reach = 3.2;
  for (const up of [-reach, reach]) {
    paper.line([[x - reach, y - up], [x + reach, y + up]], {
      color,
      width: 1.6,
    });
  }
}

/** Draws the stroke and the mark of a legend's entry from its left end on, 20 pixels wide. */
export function drawKey(
  paper: Paper,
  { mark, ...style }: LegendEntry,
  [x, y]: Place,
): void {
  paper.line([[x, y], [x + 20, y]], { width: 2, ...style });
  if (mark) drawMark(paper, [x + 10, y], { mark, color: style.color });
}
