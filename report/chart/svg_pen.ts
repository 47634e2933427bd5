/**
 * Writes what is drawn on a canvas as SVG. Text stays text, and repeated shapes are references, so that
 * files are small.
 *
 * It has only what charts use: full circles, straight lines, rectangular clips, and transforms that
 * move and turn. Lengths have one decimal.
 *
 * @module
 */

import { type FileOptions, type SvgAttributes, SvgFile } from "./svg_file.ts";
import { type Step, tenths } from "./svg_path.ts";

/** The properties that `save()` keeps, besides the transform and the clip. */
const INITIAL = {
  fillStyle: "#000000",
  strokeStyle: "#000000",
  globalAlpha: 1,
  lineWidth: 1,
  lineCap: "butt",
  lineJoin: "miter",
  miterLimit: 10,
  lineDashOffset: 0,
  font: "10px sans-serif",
  textAlign: "left",
  textBaseline: "alphabetic",
};

/** Moves by `e` and `f` after a turn of which `a` and `b` are cosine and sine. */
interface Transform {
  readonly a: number;
  readonly b: number;
  readonly e: number;
  readonly f: number;
}

const UNMOVED: Transform = { a: 1, b: 0, e: 0, f: 0 };
const ANCHORS: Readonly<Record<string, string>> = {
  center: "middle",
  right: "end",
  end: "end",
};

/** Measures text: the context of a canvas with the same typeface. */
interface Ruler {
  font: string;
  textBaseline: string;
  measureText(text: string): {
    readonly width: number;
    readonly actualBoundingBoxAscent: number;
  };
}

/** A 2D context of a canvas that writes SVG. */
export class SvgPen {
  readonly #ruler: Ruler;
  readonly #file = new SvgFile();
  readonly #stack: object[] = [];
  #transform = UNMOVED;
  #clip = "";
  #dash: readonly number[] = [];
  #path: Step[] = [];
  /** The path that was filled last. A stroke of the same path makes one element of both. */
  #filled: { path: Step[]; takeAway: () => void } | undefined;

  fillStyle = INITIAL.fillStyle;
  strokeStyle = INITIAL.strokeStyle;
  globalAlpha = INITIAL.globalAlpha;
  lineWidth = INITIAL.lineWidth;
  lineCap = INITIAL.lineCap;
  lineJoin = INITIAL.lineJoin;
  miterLimit = INITIAL.miterLimit;
  lineDashOffset = INITIAL.lineDashOffset;
  font = INITIAL.font;
  textAlign = INITIAL.textAlign;
  textBaseline = INITIAL.textBaseline;

  constructor(ruler: Ruler) {
    this.#ruler = ruler;
  }

  save(): void {
    const names = Object.keys(INITIAL) as (keyof typeof INITIAL)[];
    const own = Object.fromEntries(names.map((name) => [name, this[name]]));
    const [transform, clip, dash] = [this.#transform, this.#clip, this.#dash];
    this.#stack.push({ own, transform, clip, dash });
  }

  restore(): void {
    const last = this.#stack.pop() as
      | { own: object; transform: Transform; clip: string; dash: number[] }
      | undefined;
    if (last === undefined) return;
    Object.assign(this, last.own);
    this.#transform = last.transform;
    this.#clip = last.clip;
    this.#dash = last.dash;
  }

  setTransform(
    ...[a, b, , , e, f]: [number, number, number, number, number, number]
  ): void {
    this.#transform = { a, b, e, f };
  }

  resetTransform(): void {
    this.#transform = UNMOVED;
  }

  translate(x: number, y: number): void {
    const [e, f] = this.#at(x, y);
    this.#transform = { ...this.#transform, e, f };
  }

  rotate(angle: number): void {
    const { a, b } = this.#transform;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.#transform = {
      ...this.#transform,
      a: a * cos - b * sin,
      b: b * cos + a * sin,
    };
  }

  setLineDash(dash: readonly number[]): void {
    this.#dash = [...dash];
  }

  beginPath(): void {
    this.#path = [];
  }

  moveTo(x: number, y: number): void {
    this.#path.push(["M", ...this.#at(x, y)]);
  }

  lineTo(x: number, y: number): void {
    const command = this.#path.length === 0 ? "M" : "L";
    this.#path.push([command, ...this.#at(x, y)]);
  }

  closePath(): void {
    if (this.#path.length > 0) this.#path.push(["Z"]);
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.moveTo(x, y);
    this.lineTo(x + width, y);
    this.lineTo(x + width, y + height);
    this.lineTo(x, y + height);
    this.closePath();
  }

  /** @throws {Error} For an arc that is no full circle: no chart has one. */
  arc(x: number, y: number, radius: number, from: number, to: number): void {
    if (Math.abs(to - from) < 2 * Math.PI - 1e-6) {
      throw new Error("Cannot write an arc as SVG: only circles are drawn");
    }
    this.#path.push(["O", ...this.#at(x, y), radius]);
  }

  fill(): void {
    const path = this.#path;
    const takeAway = this.#draw({ fill: this.fillStyle });
    this.#filled = { path, takeAway };
  }

  stroke(): void {
    const { lineWidth, lineCap, lineJoin } = this;
    const dash = this.#dash.join(" ");
    const isFilled = this.#filled?.path === this.#path;
    if (isFilled) this.#filled!.takeAway();
    this.#filled = undefined;
    this.#draw({
      fill: isFilled ? this.fillStyle : "none",
      stroke: this.strokeStyle,
      "stroke-width": tenths(lineWidth * 10) / 100,
      ...(lineCap !== "butt" && { "stroke-linecap": lineCap }),
      ...(lineJoin !== "miter" && { "stroke-linejoin": lineJoin }),
      ...(dash !== "" && { "stroke-dasharray": dash }),
    });
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    const path = this.#path;
    this.#path = [];
    this.rect(x, y, width, height);
    this.fill();
    this.#path = path;
  }

  clip(): void {
    this.#clip = this.#file.clip(this.#path);
  }

  measureText(text: string): ReturnType<Ruler["measureText"]> {
    this.#ruler.font = this.font;
    this.#ruler.textBaseline = this.textBaseline;
    return this.#ruler.measureText(text);
  }

  fillText(text: string, x: number, y: number): void {
    if (text.trim() === "") return;
    const { a, b } = this.#transform;
    const [left, top] = this.#at(x, y + this.#baseline());
    const [, size = "10"] = /([\d.]+)px/.exec(this.font) ?? [];
    const anchor = ANCHORS[this.textAlign];
    this.#file.addText({
      text,
      x: left,
      y: top,
      size: Number(size),
      turn: Math.round(Math.atan2(b, a) * 180 / Math.PI),
      width: this.measureText(text).width,
      look: {
        fill: this.fillStyle,
        "font-size": `${Number(size)}px`,
        ...(this.font.startsWith("bold") && { "font-weight": "bold" }),
        ...(anchor && { "text-anchor": anchor }),
      },
    });
  }

  /** Returns the file. */
  format(options: FileOptions): string {
    return this.#file.format(options);
  }

  #at(x: number, y: number): [number, number] {
    const { a, b, e, f } = this.#transform;
    return [a * x - b * y + e, b * x + a * y + f];
  }

  /** Returns the distance from the given y of a text down to its baseline. */
  #baseline(): number {
    if (this.textBaseline === "alphabetic") return 0;
    const ruler = this.#ruler;
    ruler.font = this.font;
    const [own, plain] = [this.textBaseline, "alphabetic"].map((baseline) => {
      ruler.textBaseline = baseline;
      return ruler.measureText("H").actualBoundingBoxAscent;
    });
    return plain! - own!;
  }

  #draw(look: SvgAttributes): () => void {
    if (this.#path.length === 0) return () => {};
    const { globalAlpha: opacity } = this;
    const own = opacity === 1 ? look : { ...look, opacity };
    return this.#file.add(this.#path, own, this.#clip);
  }
}
