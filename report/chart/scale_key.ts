/**
 * The colours of speed-ups, and the key to them.
 *
 * @module
 */

import { mixed, type Theme } from "./theme.ts";
import type { Paper, Place } from "./paper.ts";

/** Ends of the scale; what is beyond the last is drawn like it. */
const ENDS = [1.25, 1.5, 2, 3, 5, 10, 20, 50, 100];
/** Beyond this, letters on light paper would turn white, in the last few cells only. */
const FULL = 0.9;
const WIDTH = 280;
const HEIGHT = 12;
const STEPS = 56;

/** Returns the end of a scale for `factors`, the same in both directions. */
export function endOf(factors: readonly number[]): number {
  const most = Math.max(1, ...factors.map((f) => Math.max(f, 1 / f)));
  return ENDS.find((end) => end >= most) ?? ENDS.at(-1)!;
}

/** Returns the colour of a factor: paper at 1, blue above and orange below. */
export function colorOf(factor: number, end: number, theme: Theme): string {
  const share = Math.max(-1, Math.min(1, Math.log(factor) / Math.log(end)));
  const to = share < 0 ? theme.slower : theme.faster;
  // Or 1.02 would not be told from 1.
  return mixed(theme.paper, to, FULL * Math.abs(share) ** 0.8);
}

/** Returns at which ends of a scale some of `factors` lie beyond it. */
export function beyond(factors: readonly number[], end: number): Beyond {
  return {
    below: factors.some((factor) => factor < 1 / end),
    above: factors.some((factor) => factor > end),
  };
}

/** The ends of a scale that have values beyond them. */
export interface Beyond {
  readonly below: boolean;
  readonly above: boolean;
}

/** Draws the key at a place. */
export function drawScale(
  paper: Paper,
  [x, y]: Place,
  { end, below, above }: Beyond & { readonly end: number },
): void {
  const { theme } = paper;
  const at = (share: number) => x + WIDTH * (share + 1) / 2;
  for (let i = 0; i < STEPS; i++) {
    const share = (i + 0.5) / STEPS * 2 - 1;
    paper.fill({
      x: x + WIDTH * i / STEPS,
      y,
      // A little more, or the paper would shine through.
      width: WIDTH / STEPS + 0.4,
      height: HEIGHT,
    }, colorOf(end ** share, end, theme));
  }
  const half = Math.sqrt(end);
  for (const factor of [1 / end, 1 / half, 1, half, end]) {
    const share = Math.log(factor) / Math.log(end);
    paper.line([[at(share), y + HEIGHT], [at(share), y + HEIGHT + 4]]);
    const open = factor === end && above
      ? "≥ "
      : factor === 1 / end && below
      ? "≤ "
      : "";
    paper.text(`${open}${factor.toFixed(2)}×`, [at(share), y + HEIGHT + 13], {
      size: 11,
      color: theme.dim,
      align: "center",
    });
  }
  const middle = y + HEIGHT / 2;
  const style = { size: 12, color: theme.dim };
  paper.text("slower", [x - 10, middle], { ...style, align: "right" });
  paper.text("faster", [x + WIDTH + 10, middle], style);
}
