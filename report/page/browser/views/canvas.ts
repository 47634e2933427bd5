/// <reference lib="dom" />
/**
 * Makes canvases of the page that the drawing code of files draws on.
 *
 * @module
 */

import { Paper } from "../../../chart/paper.ts";
import { type ThemeName, THEMES } from "../../../chart/theme.ts";
import { el } from "../dom.ts";

/** A canvas to be made. Lengths are CSS pixels. */
export interface CanvasOptions {
  readonly width: number;
  readonly height: number;
  readonly theme: ThemeName;
  /** The text for those who do not see it; empty where text beside it says the same. */
  readonly label: string;
}

/** Makes a canvas. @returns It, and what `draw` returns. */
export function drawn<T>(
  { width, height, theme, label }: CanvasOptions,
  draw: (paper: Paper) => T,
): { readonly canvas: HTMLCanvasElement; readonly found: T } {
  const scale = devicePixelRatio;
  const canvas = el("canvas", {
    width: Math.round(width * scale),
    height: Math.round(height * scale),
    ...(label === ""
      ? { "aria-hidden": "true" }
      : { role: "img", "aria-label": label }),
    vars: { width: `${width}px`, height: `${height}px` },
  });
  const pen = canvas.getContext("2d");
  if (pen === null) throw new Error("Cannot draw: there is no 2D canvas");
  const family = getComputedStyle(document.documentElement).fontFamily;
  const options = { width, height, scale, family, theme: THEMES[theme] };
  // The same interface but for what only files have.
  const paper = new Paper(pen as never, options);
  return { canvas, found: draw(paper) };
}
