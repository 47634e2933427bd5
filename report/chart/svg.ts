/**
 * Turns the text of an SVG into outlines, each drawn once: it looks the same where the
 * typeface is not installed, and stays small.
 *
 * @module
 */

import type { Paper } from "./paper.ts";

/** Pixels of an em in which outlines are kept. */
const EM = 100;

const TEXT =
  /<text((?: [\w-]+="[^"]*")*) x="([^"]*)" y="([^"]*)">([^<]*)<\/text>/g;

interface Style {
  readonly size: number;
  readonly bold: boolean;
}

/**
 * Returns `svg` with every `<text>` as references to outlines, and numbers of two decimals.
 *
 * @param outlines Gives a drawing as SVG in which text is paths.
 */
export function shareGlyphs(
  svg: string,
  outlines: (draw: (paper: Paper) => void) => string,
): string {
  const ids = new Map<string, string>();
  const body = svg.replaceAll(TEXT, (_, attributes, xs, ys, content) => {
    const style = styleOf(attributes);
    const scale = style.size / EM;
    const kept = attributes.replaceAll(/ (font-[\w-]+|transform)="[^"]*"/g, "");
    const turn = / transform="([^"]*)"/.exec(attributes)?.[1] ?? "";
    const [x, y] = [numbers(xs), numbers(ys)];
    const uses = [...decoded(content)].map((letter, i) => {
      if (letter.trim() === "") return "";
      const glyph = `${style.bold ? "b" : "r"}${letter}`;
      const id = ids.get(glyph) ?? `g${ids.size}`;
      ids.set(glyph, id);
      const at = (list: readonly number[]) => (list[i] ?? list.at(-1)!) / scale;
      return `<use xlink:href="#${id}" x="${at(x)}" y="${at(y)}"/>`;
    });
    return `<g${kept} transform="${turn} scale(${scale.toFixed(4)})">${
      uses.join("")
    }</g>`;
  });
  const paths = glyphPaths([...ids.keys()], outlines);
  const defs = [...ids.values()].map((id, i) =>
    `<path id="${id}" d="${paths[i]!}"/>`
  ).join("");
  const rounded = body.replaceAll(
    /(?<= (?:d|x|y|width|height|points|x1|x2|y1|y2|r|cx|cy|rx|ry)=")[^"]*/g,
    round,
  );
  return renumbered(rounded).replace(/<svg [^>]*>/, (head) => {
    const [width, height] = ["width", "height"].map((name) =>
      new RegExp(` ${name}="([\\d.]+)"`).exec(head)![1]
    );
    return `${
      head.slice(0, -1)
    } viewBox="0 0 ${width} ${height}" role="img"><defs>${defs}</defs>`;
  }) + "\n";
}

/** Returns `svg` with its clips counted from 0: the library counts all that it ever drew. */
function renumbered(svg: string): string {
  const ids = new Map<string, string>();
  return svg.replaceAll(/(?<= id="|url\(#)cl_\w+/g, (id) => {
    const own = ids.get(id) ?? `c${ids.size}`;
    ids.set(id, own);
    return own;
  });
}

/** Returns the outline of each of `glyphs`, at the origin. */
function glyphPaths(
  glyphs: readonly string[],
  outlines: (draw: (paper: Paper) => void) => string,
): string[] {
  if (glyphs.length === 0) return [];
  // Moved into the picture by a transform, which leaves the outline itself at the origin.
  const drawn = outlines((paper) => {
    for (const glyph of glyphs) {
      paper.text(glyph.slice(1), [0, EM], {
        size: EM,
        bold: glyph[0] === "b",
        at: "alphabetic",
        color: "#000001",
      });
    }
  });
  const found = [
    ...drawn.matchAll(
      /<path fill="#000001" transform="[^"]*" d="([^"]*)"/g,
    ),
  ];
  if (found.length !== glyphs.length) {
    throw new Error(
      `${glyphs.length} glyphs gave ${found.length} outlines: one of ${
        glyphs.map((g) => g.slice(1)).join("")
      } is not in the typeface`,
    );
  }
  // A thousandth of an em is less than is seen.
  return found.map(([, path]) =>
    path!.replaceAll(
      /-?\d+\.\d+(?:e-?\d+)?/g,
      (v) => `${+Number(v).toFixed(1)}`,
    )
  );
}

function round(text: string): string {
  return text.replaceAll(
    /-?\d+\.\d{3,}(?:e-?\d+)?/g,
    (number) => `${+Number(number).toFixed(2)}`,
  );
}

function styleOf(attributes: string): Style {
  return {
    size: Number(/ font-size="([\d.]+)"/.exec(attributes)?.[1] ?? EM),
    bold: / font-weight="(?:[6-9]00|bold)"/.test(attributes),
  };
}

function numbers(list: string): number[] {
  return list.split(",").map((item) => item.trim()).filter(Boolean).map(Number);
}

function decoded(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}
