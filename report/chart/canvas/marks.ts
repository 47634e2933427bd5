/**
 * Shapes that pictures use: the marks of kernels, hatching, a cross.
 *
 * @module
 */

import type { Look } from "./palette.ts";
import type { Box, Paper, Place } from "./paper.ts";

/** Draws the mark of a kernel around a place; `size` is about its radius. */
export function drawMark(
  { pen, theme }: Paper,
  [x, y]: Place,
  { mark, color, size = 4 }: Look & { readonly size?: number },
): void {
  pen.save();
  pen.fillStyle = color;
  pen.strokeStyle = color;
  pen.lineWidth = size * 0.4;
  pen.beginPath();
  const hollow = mark === "ring" || mark.endsWith("Hollow");
  // The stroke of a hollow one lies half outside.
  const reach = hollow ? size * 0.85 : size;
  if (hollow) pen.fillStyle = theme.paper;
  switch (mark) {
    case "circle":
    case "ring":
      pen.arc(x, y, reach, 0, 2 * Math.PI);
      break;
    case "rect":
    case "rectHollow":
      pen.rect(x - reach * 0.9, y - reach * 0.9, reach * 1.8, reach * 1.8);
      break;
    case "bar":
      pen.rect(x - reach * 1.4, y - reach * 0.5, reach * 2.8, reach);
      break;
    default: {
      const corners = mark.startsWith("rectRot") ? 4 : 3;
      const up = mark.startsWith("triangleDown") ? 1 : -1;
      for (let i = 0; i < corners; i++) {
        const angle = 2 * Math.PI * i / corners + up * Math.PI / 2;
        pen.lineTo(
          x + reach * 1.2 * Math.cos(angle),
          y + reach * 1.2 * Math.sin(angle),
        );
      }
      pen.closePath();
    }
  }
  pen.fill();
  if (hollow) pen.stroke();
  pen.restore();
}

/** Draws a cross around a place, which no kernel has for a mark: no time. */
export function drawCross(
  { pen }: Paper,
  [x, y]: Place,
  color: string,
): void {
  const reach = 3.2;
  pen.save();
  pen.strokeStyle = color;
  pen.lineWidth = 1.6;
  pen.beginPath();
  for (const up of [-1, 1]) {
    pen.moveTo(x - reach, y - up * reach);
    pen.lineTo(x + reach, y + up * reach);
  }
  pen.stroke();
  pen.restore();
}

/** Hatches `box`: there is nothing to show in it. */
export function drawHatch(paper: Paper, box: Box): void {
  const { pen, theme } = paper;
  const { x, y, width, height } = box;
  paper.fill(box, theme.void);
  pen.save();
  pen.strokeStyle = theme.rule;
  pen.globalAlpha = 0.45;
  pen.lineWidth = 1;
  pen.beginPath();
  // Cut by hand: a clip would be another element of the SVG for each cell.
  for (let at = 8; at < width + height; at += 8) {
    pen.moveTo(x + Math.min(at, width), y + Math.max(0, at - width));
    pen.lineTo(x + Math.max(0, at - height), y + Math.min(at, height));
  }
  pen.stroke();
  pen.restore();
}
