/**
 * Collects shapes and texts, and writes them as a small SVG file. Elements of one look share a class,
 * neighbouring shapes of one look share a path, and a shape that is repeated becomes a marker.
 *
 * @module
 */

import {
  decimal,
  pathOf,
  type Shape,
  shapeOf,
  type Step,
  verticesOf,
} from "./svg_path.ts";

/** The look of an element, as presentation attributes. */
export type SvgAttributes = Readonly<Record<string, string | number>>;

/** The bounding box of an element, in pixels. */
interface Covered {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Shapes {
  readonly kind: "shapes";
  readonly look: SvgAttributes;
  readonly clip: string;
  readonly shapes: Shape[];
  readonly covered: Covered[];
}

interface Text {
  readonly kind: "text";
  readonly look: SvgAttributes;
  readonly attributes: string;
  readonly text: string;
  readonly covered: readonly Covered[];
}

/** A text to add. */
export interface TextInput {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** Degrees by which it is turned. */
  readonly turn: number;
  /** Its width, pixels. */
  readonly width: number;
  readonly size: number;
  readonly look: SvgAttributes;
}

/** The words and the size of a file. */
export interface FileOptions {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly description: string;
  /** The CSS font family of all text. */
  readonly family: string;
}

/**
 * The number of earlier elements to look at. A shape is added to the path of one of them if it overlaps
 * no element after that.
 */
const BACK = 64;
/** Pixels by which boxes must overlap to count as overlapping: boxes that touch do not. */
const EDGE = 0.3;
/** The least copies of a shape for which a marker makes the file shorter. */
const MARKED = 5;

/** An SVG file to which shapes and texts are added. */
export class SvgFile {
  readonly #elements: (Shapes | Text)[] = [];
  readonly #clips = new Map<string, string>();

  /** Adds a shape. @returns A function that removes it: a shape with a stroke replaces one without. */
  add(path: readonly Step[], look: SvgAttributes, clip: string): () => void {
    const shape = shapeOf(path);
    const covered = coveredBy(path, Number(look["stroke-width"] ?? 0) / 2);
    const element = this.#placeOf(look, clip, covered);
    element.shapes.push(shape);
    element.covered.push(covered);
    return () => {
      element.shapes.pop();
      element.covered.pop();
      if (element.shapes.length > 0) return;
      this.#elements.splice(this.#elements.lastIndexOf(element), 1);
    };
  }

  /** Adds a text with its baseline at `y`. Clips do not apply to it. */
  addText({ text, x, y, turn, width, size, look }: TextInput): void {
    const [left, top] = [decimal(x), decimal(y)];
    // A box that holds the text whatever its anchor is, and whatever angle it is turned by.
    const high = turn === 0 ? size : width;
    this.#elements.push({
      kind: "text",
      look,
      text,
      attributes: turn === 0
        ? `x="${left}" y="${top}"`
        : `transform="translate(${left} ${top})rotate(${turn})"`,
      covered: [{
        left: x - width,
        right: x + width,
        top: y - high,
        bottom: y + high / 3,
      }],
    });
  }

  /** Returns the id of the clip `path`, which is added if it is new. */
  clip(path: readonly Step[]): string {
    const d = pathOf([shapeOf(path)]);
    const id = this.#clips.get(d) ?? `c${this.#clips.size}`;
    this.#clips.set(d, id);
    return id;
  }

  /** Returns the text of the file. */
  format({ width, height, title, description, family }: FileOptions): string {
    const classes = new Map<string, string>();
    const markers = new Map<string, string>();
    const body = this.#elements.map((element) => {
      const name = named(classes, "k", cssOf(element.look));
      if (element.kind === "text") {
        const { attributes, text } = element;
        return `<text class="${name}" ${attributes}>${escaped(text)}</text>`;
      }
      const { clip, shapes } = element;
      const clipped = clip === "" ? "" : ` clip-path="url(#${clip})"`;
      const { rest } = shapes[0]!;
      const isMarker = shapes.length >= MARKED && rest.length > 4 &&
        shapes.every((shape) => shape.rest === rest);
      if (!isMarker) {
        return `<path class="${name}"${clipped} d="${pathOf(shapes)}"/>`;
      }
      const marker = named(
        markers,
        "m",
        `<path class="${name}" d="M0 0${rest}"/>`,
      );
      const places = ["start", "mid", "end"]
        .map((at) => `marker-${at}="url(#${marker})"`).join(" ");
      return `<path fill="none"${clipped} ${places} d="${
        verticesOf(shapes)
      }"/>`;
    });
    const css = [...classes].map(([css, name]) => `.${name}{${css}}`).join("");
    const defs = [
      ...[...this.#clips].map(([d, id]) =>
        `<clipPath id="${id}"><path d="${d}"/></clipPath>`
      ),
      ...[...markers].map(([path, id]) =>
        `<marker id="${id}" overflow="visible" markerUnits="userSpaceOnUse">${path}</marker>`
      ),
    ];
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc" font-family="${family}">`,
      `<title id="title">${escaped(title)}</title>`,
      `<desc id="desc">${escaped(description)}</desc>`,
      `<style>${css}</style>`,
      `<defs>${defs.join("")}</defs>`,
      ...body,
      "</svg>",
      "",
    ].join("\n");
  }

  /** Returns an earlier element of the same look to which the shape may be added, else a new one. */
  #placeOf(look: SvgAttributes, clip: string, covered: Covered): Shapes {
    const css = cssOf(look);
    for (const element of this.#elements.slice(-BACK).reverse()) {
      const { kind } = element;
      if (
        kind === "shapes" && element.clip === clip &&
        cssOf(element.look) === css
      ) return element;
      if (element.covered.some((other) => isOver(other, covered))) break;
    }
    const made: Shapes = {
      kind: "shapes",
      look,
      clip,
      shapes: [],
      covered: [],
    };
    this.#elements.push(made);
    return made;
  }
}

/** Returns the name of `value`, and gives it one if it has none. */
function named(
  names: Map<string, string>,
  prefix: string,
  value: string,
): string {
  const name = names.get(value) ?? `${prefix}${names.size.toString(36)}`;
  names.set(value, name);
  return name;
}

function cssOf(look: SvgAttributes): string {
  return Object.entries(look).map(([name, value]) => `${name}:${value}`)
    .join(";");
}

function coveredBy(path: readonly Step[], stroke: number): Covered {
  const [xs, ys] = [[] as number[], [] as number[]];
  for (const step of path) {
    if (step[0] === "Z") continue;
    const [, x, y, radius = 0] = step;
    xs.push(x - radius, x + radius);
    ys.push(y - radius, y + radius);
  }
  return {
    left: Math.min(...xs) - stroke,
    right: Math.max(...xs) + stroke,
    top: Math.min(...ys) - stroke,
    bottom: Math.max(...ys) + stroke,
  };
}

function isOver(a: Covered, b: Covered): boolean {
  return a.left < b.right - EDGE && b.left < a.right - EDGE &&
    a.top < b.bottom - EDGE && b.top < a.bottom - EDGE;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
