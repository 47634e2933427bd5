/**
 * Which mark and colour is which kernel.
 *
 * @module
 */

import { drawMark } from "../canvas/marks.ts";
import type { Paper } from "../canvas/paper.ts";
import type { PlotData } from "./data.ts";

const GAP = 22;
const MARK = 26;
const LINE = 20;
const STYLE = { size: 13 };

/**
 * Draws a legend of every kernel from `x`, `y` on, in as many lines as it takes.
 *
 * @param light What the line without marks is called, if there is one.
 * @returns Its height.
 */
export function legend(
  paper: Paper,
  data: Pick<PlotData, "kernels" | "looks">,
  { x, y, width, light }: {
    x: number;
    y: number;
    width: number;
    light?: string;
  },
): number {
  const names = [...data.kernels, ...(light === undefined ? [] : [light])];
  let [at, line] = [x, y + LINE / 2];
  for (const name of names) {
    const look = data.looks.get(name);
    const takes = MARK + paper.widthOf(name, STYLE);
    if (at > x && at + takes > x + width) [at, line] = [x, line + LINE];
    const color = look?.color ?? paper.theme.dim;
    paper.line([[at, line], [at + 20, line]], { color, width: look ? 2 : 1.2 });
    if (look) drawMark(paper, [at + 10, line], look);
    paper.text(name, [at + MARK, line], STYLE);
    at += takes + GAP;
  }
  return line + LINE / 2 - y;
}
