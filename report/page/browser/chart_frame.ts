/// <reference lib="dom" />
/**
 * The room of a picture, and its axes.
 *
 * @module
 */

import { type Child, svg } from "./dom.ts";
import type { Scale } from "./scale.ts";

/** Units of a picture, and where its axes are. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** CSS pixels below which a picture takes the whole width of the screen. */
const NARROW = 640;
/** From a baseline to half the height of digits. */
const HALF = 0.32;

/** A frame of about the room that it gets: text that is scaled down could not be read. */
export function frameOf(): Frame {
  const narrow = innerWidth < NARROW;
  const [width, height] = narrow ? [350, 240] : [560, 300];
  return {
    width,
    height,
    left: 42,
    right: width - 22,
    top: 24,
    bottom: height - 38,
  };
}

/** Lines and digits of values, from left to right. */
export function valueAxis(
  { ticks, at }: Scale,
  { left, right }: Pick<Frame, "left" | "right">,
): Child {
  return ticks.map((tick) => [
    svg("line", { x1: left, x2: right, y1: at(tick), y2: at(tick) }),
    svg("text", {
      x: left - 6,
      y: at(tick),
      dy: `${HALF}em`,
      "text-anchor": "end",
    }, `${tick}`),
  ]);
}

/** The axes of latency over a size. */
export function axes(
  { x, y }: { readonly x: Scale; readonly y: Scale },
  { frame, name }: { readonly frame: Frame; readonly name: string },
): Node {
  const { left, right, bottom, height } = frame;
  return svg(
    "g",
    { class: "axes" },
    valueAxis(y, frame),
    x.ticks.map((tick) =>
      svg("text", {
        x: x.at(tick),
        y: bottom + 16,
        "text-anchor": "middle",
      }, `${tick}`)
    ),
    svg("text", { x: left - 34, y: 10, class: "unit" }, "µs"),
    svg("text", {
      x: (left + right) / 2,
      y: height - 5,
      "text-anchor": "middle",
      class: "unit",
    }, name),
  );
}
