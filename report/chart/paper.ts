/**
 * Paper to draw charts on, in files and in the page: boxes of chart.js charts, text, lines.
 *
 * @module
 */

import type { SKRSContext2D } from "@napi-rs/canvas";
import {
  BarController,
  BarElement,
  BasicPlatform,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  ScatterController,
} from "chart.js";
import type { Theme } from "./theme.ts";

// Register only the parts that are used: the rest of chart.js would make the page larger.
Chart.register(
  ...[BarController, LineController, ScatterController],
  ...[BarElement, LineElement, PointElement],
  ...[CategoryScale, LinearScale, LogarithmicScale],
);

/** A part of a paper, in CSS pixels from its upper left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A place on a paper, in CSS pixels from its upper left corner. */
export type Place = readonly [x: number, y: number];

/** The style of text. */
interface TextStyle {
  /** CSS pixels. @default {12} */
  readonly size?: number;
  readonly bold?: boolean;
  /** @default {the theme's ink} */
  readonly color?: string;
  readonly align?: "left" | "center" | "right";
  /** The part of the text that is at the given y. @default {"middle"} */
  readonly at?: "top" | "middle" | "bottom" | "alphabetic";
}

/** The style of a line. */
export interface LineStyle {
  /** @default {the theme's rule} */
  readonly color?: string;
  /** CSS pixels. @default {1} */
  readonly width?: number;
  /** Lengths of strokes and gaps. */
  readonly dash?: readonly number[];
}

/** The properties of a paper. */
interface PaperOptions {
  readonly width: number;
  readonly height: number;
  /** Canvas pixels for each CSS pixel. */
  readonly scale: number;
  readonly theme: Theme;
  /** The CSS font family of all text. */
  readonly family: string;
}

/** Paper to draw on. */
export class Paper {
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  readonly family: string;
  /** The title and notes of the picture, for screen readers. */
  words: { readonly title: string; readonly notes: readonly string[] } = {
    title: "",
    notes: [],
  };
  readonly #scale: number;

  /** @param pen The context of the canvas, of a file or of the page. */
  constructor(readonly pen: SKRSContext2D, options: PaperOptions) {
    this.width = options.width;
    this.height = options.height;
    this.theme = options.theme;
    this.family = options.family;
    this.#scale = options.scale;
    pen.setTransform(this.#scale, 0, 0, this.#scale, 0, 0);
    this.fill({ x: 0, y: 0, ...options }, this.theme.paper);
  }

  /**
   * Draws a chart in `box`.
   *
   * @param over Draws over the finished chart. What it returns is returned.
   */
  chart<T = void>(
    { x, y, width, height }: Box,
    config: ChartConfiguration,
    over: (chart: Chart) => T,
  ): T {
    const context = this.#contextOf();
    const { theme } = this;
    const chart = new Chart({ getContext: () => context } as never, {
      ...config,
      platform: BasicPlatform,
      options: {
        animation: false,
        responsive: false,
        devicePixelRatio: this.#scale,
        color: theme.ink,
        borderColor: theme.grid,
        font: { family: this.family, size: 12 },
        ...config.options,
        layout: {
          autoPadding: false,
          // Several charts share a canvas: padding keeps each one in its own box.
          padding: {
            left: x,
            top: y,
            right: this.width - x - width,
            bottom: this.height - y - height,
          },
        },
      },
    });
    const found = over(chart);
    chart.destroy();
    return found;
  }

  /** Sets `text` with its `align` and `at` at a place. */
  text(text: string, [x, y]: Place, style: TextStyle = {}) {
    const { pen } = this;
    pen.save();
    pen.font = this.#fontOf(style);
    pen.fillStyle = style.color ?? this.theme.ink;
    pen.textAlign = style.align ?? "left";
    pen.textBaseline = style.at ?? "middle";
    pen.translate(x, y);
    pen.fillText(text, 0, 0);
    pen.restore();
  }

  /** Returns the width of `text` in CSS pixels. */
  widthOf(text: string, style: TextStyle = {}): number {
    const { pen } = this;
    pen.save();
    pen.font = this.#fontOf(style);
    const { width } = pen.measureText(text);
    pen.restore();
    return width;
  }

  /**
   * Returns the font size of `style`, or the largest smaller one at which `text` fits into `room`
   * pixels.
   */
  fittingSize(
    text: string,
    room: number,
    style: TextStyle & { readonly size: number },
  ): number {
    const width = this.widthOf(text, style);
    const { size } = style;
    return width <= room ? size : Math.floor(size * room / width * 10) / 10;
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

  /** Hatches `box`, which has no value to show. */
  hatch(box: Box): void {
    const { pen, theme } = this;
    const { x, y, width, height } = box;
    this.fill(box, theme.void);
    pen.save();
    pen.strokeStyle = theme.rule;
    pen.globalAlpha = 0.45;
    pen.lineWidth = 1;
    pen.beginPath();
    // The lines end at the box: a clip would add an element to the SVG for each cell.
    for (let at = 8; at < width + height; at += 8) {
      pen.moveTo(x + Math.min(at, width), y + Math.max(0, at - width));
      pen.lineTo(x + Math.max(0, at - height), y + Math.min(at, height));
    }
    pen.stroke();
    pen.restore();
  }

  /**
   * Returns the pen for chart.js, which asks for a canvas and clears it: clearing does nothing
   * here.
   */
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

  #fontOf({ size = 12, bold = false }: TextStyle): string {
    return `${bold ? "bold " : ""}${size}px ${this.family}`;
  }
}
