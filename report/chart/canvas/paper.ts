/**
 * Paper to draw pictures on: charts in boxes, text, lines.
 *
 * @module
 */

import type { SKRSContext2D } from "@napi-rs/canvas";
import { Chart, type ChartConfiguration } from "chart.js";
import { FAMILY } from "./font.ts";
import type { Theme } from "./theme.ts";

/** A part of a paper, in CSS pixels from its upper left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A place on a paper, in CSS pixels from its upper left corner. */
export type Place = readonly [x: number, y: number];

/** How text is set. */
export interface TextStyle {
  /** CSS pixels. @default {12} */
  readonly size?: number;
  readonly bold?: boolean;
  /** @default the theme's ink */
  readonly color?: string;
  readonly align?: "left" | "center" | "right";
  /** What of the text is at the given height. @default {"middle"} */
  readonly at?: "top" | "middle" | "bottom" | "alphabetic";
  /** Radians. @default {0} */
  readonly turn?: number;
}

/** How a line is drawn. */
export interface LineStyle {
  /** @default the theme's rule */
  readonly color?: string;
  /** CSS pixels. @default {1} */
  readonly width?: number;
  /** Lengths of strokes and gaps. */
  readonly dash?: readonly number[];
}

/** What a paper is. */
export interface PaperOptions {
  readonly width: number;
  readonly height: number;
  /** Pixels of the canvas for a CSS pixel. */
  readonly scale: number;
  readonly theme: Theme;
}

/** Paper to draw on. */
export class Paper {
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  readonly #scale: number;

  /** @param pen What draws on the canvas. */
  constructor(readonly pen: SKRSContext2D, options: PaperOptions) {
    this.width = options.width;
    this.height = options.height;
    this.theme = options.theme;
    this.#scale = options.scale;
    pen.setTransform(this.#scale, 0, 0, this.#scale, 0, 0);
    this.fill({ x: 0, y: 0, ...options }, this.theme.paper);
  }

  /**
   * Draws a chart in `box`.
   *
   * @param over Draws over it, with its scales.
   */
  chart(
    { x, y, width, height }: Box,
    config: ChartConfiguration,
    over: (chart: Chart) => void = () => {},
  ): void {
    const context = this.#contextOf();
    const { theme } = this;
    const chart = new Chart({ getContext: () => context } as never, {
      ...config,
      options: {
        animation: false,
        responsive: false,
        devicePixelRatio: this.#scale,
        color: theme.ink,
        borderColor: theme.grid,
        font: { family: FAMILY, size: 12 },
        ...config.options,
        layout: {
          autoPadding: false,
          // Several charts share a canvas: each keeps out of the others' boxes.
          padding: {
            left: x,
            top: y,
            right: this.width - x - width,
            bottom: this.height - y - height,
          },
        },
      },
    });
    over(chart);
    chart.destroy();
  }

  /** Sets `text` with its `align` and `at` at a place. */
  text(text: string, [x, y]: Place, style: TextStyle = {}) {
    const { pen } = this;
    pen.save();
    pen.font = fontOf(style);
    pen.fillStyle = style.color ?? this.theme.ink;
    pen.textAlign = style.align ?? "left";
    pen.textBaseline = style.at ?? "middle";
    pen.translate(x, y);
    if (style.turn) pen.rotate(style.turn);
    pen.fillText(text, 0, 0);
    pen.restore();
  }

  /** How wide `text` is, in CSS pixels. */
  widthOf(text: string, style: TextStyle = {}): number {
    const { pen } = this;
    pen.save();
    pen.font = fontOf(style);
    const { width } = pen.measureText(text);
    pen.restore();
    return width;
  }

  /** Draws a line through `places`. */
  line(places: readonly Place[], style: LineStyle = {}) {
    const { pen } = this;
    pen.save();
    pen.strokeStyle = style.color ?? this.theme.rule;
    pen.lineWidth = style.width ?? 1;
    pen.setLineDash([...style.dash ?? []]);
    pen.beginPath();
    for (const [x, y] of places) pen.lineTo(x, y);
    pen.stroke();
    pen.restore();
  }

  /** Fills `box`. */
  fill({ x, y, width, height }: Box, color: string): void {
    this.pen.save();
    this.pen.fillStyle = color;
    this.pen.fillRect(x, y, width, height);
    this.pen.restore();
  }

  /** The pen as chart.js takes it: with a canvas of its own, which it may not clear. */
  #contextOf(): object {
    const { pen } = this;
    const own = new Map<PropertyKey, unknown>([
      ["canvas", { width: this.width, height: this.height }],
      ["clearRect", () => {}],
    ]);
    return new Proxy({}, {
      get(_, name) {
        if (own.has(name)) return own.get(name);
        const value: unknown = Reflect.get(pen, name, pen);
        if (typeof value !== "function") return value;
        const bound: unknown = value.bind(pen);
        own.set(name, bound);
        return bound;
      },
      set: (_, name, value) => Reflect.set(pen, name, value, pen),
    });
  }
}

function fontOf({ size = 12, bold = false }: TextStyle): string {
  return `${bold ? "bold " : ""}${size}px ${FAMILY}`;
}
