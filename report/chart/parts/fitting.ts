/**
 * Text that must fit.
 *
 * @module
 */

import type { Paper } from "../canvas/paper.ts";

/** The greatest size up to `size` at which `text` takes no more than `room`, CSS pixels. */
export function fittingSize(
  paper: Paper,
  text: string,
  { room, size, bold = false }: { room: number; size: number; bold?: boolean },
): number {
  const width = paper.widthOf(text, { size, bold });
  return width <= room ? size : Math.floor(size * room / width * 10) / 10;
}
