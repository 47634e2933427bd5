/**
 * Shapes that pictures use: the marks of kernels, hatching, a cross.
 *
 * @module
 */

import type { Look } from "./palette.ts";
import type { Box, Paper, Place } from "./paper.ts";

/** Draws the mark of a kernel around a place; `size` is about its radius. */
export function drawMark(
  { pen }: Paper,
  [x, y]: Place,
  { mark, color, size = 4 }: Look & { readonly size?: number },
): void {
  pen.save();
  pen.fillStyle = color;
  pen.strokeStyle = color;
  pen.lineWidth = 1.6;
  pen.beginPath();
  switch (mark) {
    case "circle":
      pen.arc(x, y, size, 0, 2 * Math.PI);
      break;
    case "rect":
      pen.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
      break;
    case "triangle":
    case "rectRot": {
      const corners = mark === "triangle" ? 3 : 4;
      for (let i = 0; i < corners; i++) {
        const angle = 2 * Math.PI * i / corners - Math.PI / 2;
        pen.lineTo(
          x + size * 1.2 * Math.cos(angle),
          y + size * 1.2 * Math.sin(angle),
        );
      }
      pen.closePath();
      break;
    }
    default: {
      const strokes = mark === "star" ? 3 : 2;
      for (let i = 0; i < strokes; i++) {
        const angle = Math.PI * (i / strokes + 0.25);
        const [dx, dy] = [size * Math.cos(angle), size * Math.sin(angle)];
        pen.moveTo(x - dx, y - dy);
        pen.lineTo(x + dx, y + dy);
      }
      pen.stroke();
    }
  }
  pen.fill();
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
