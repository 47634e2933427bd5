/**
 * Arithmetic of colours, all `#rrggbb`.
 *
 * @module
 */

import type { Theme } from "./theme.ts";

/** The colour `share` of the way from `from` to `to`. */
export function mixed(from: string, to: string, share: number): string {
  const [a, b] = [channels(from), channels(to)];
  const mix = a.map((value, i) => Math.round(value + (b[i]! - value) * share));
  return `#${mix.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

/** `color`, nearer to the ink: thin strokes such as letters are hard to see in a pale one. */
export function inkOf(color: string, theme: Pick<Theme, "ink">): string {
  return mixed(color, theme.ink, 0.3);
}

/** Black or white, whichever is read better on `background`: WCAG's relative luminance. */
export function inkOn(background: string): string {
  const [r, g, b] = channels(background).map((value) => {
    const c = value / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  return luminance > 0.179 ? "#000000" : "#ffffff";
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}
