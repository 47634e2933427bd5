/**
 * Pictures as bytes: the same drawing as PNG and as SVG, charts by chart.js on a canvas
 * without a browser.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import process from "node:process";
import type { SKRSContext2D, SvgExportFlag } from "@napi-rs/canvas";
import { Chart, registerables } from "chart.js";
import { FAMILY } from "./font.ts";
import { FONTS } from "./font_files.ts";
import { type ThemeName, THEMES } from "./theme.ts";
import { Paper } from "./paper.ts";
import { shareGlyphs } from "./svg.ts";

/** Something to draw. Lengths are CSS pixels. */
export interface Picture {
  /** Of its files, without an ending. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  draw(paper: Paper): void;
}

/** Pixels of a PNG for each CSS pixel: sharp in print and on a screen of any density. */
const SCALE = 2;

/** Draws pictures. Made by {@linkcode openStudio}. */
export interface Studio {
  /** `picture` as a whole SVG file, its text as outlines. */
  svg(picture: Picture, theme: ThemeName): string;
  /** `picture` as a PNG file, drawn at once and compressed in the background. */
  png(picture: Picture, theme: ThemeName): Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * Loads what pictures are drawn with. Not done on import: it takes a native library,
 * which only those who want pictures need.
 */
export async function openStudio(): Promise<Studio> {
  // Or the library would look for fonts in the system and in the user's home.
  process.env.DISABLE_SYSTEM_FONTS_LOAD = "1";
  const { createCanvas, GlobalFonts, SvgExportFlag } = await import(
    "@napi-rs/canvas"
  );
  if (!GlobalFonts.has(FAMILY)) {
    for (const font of FONTS) GlobalFonts.register(Buffer.from(font), FAMILY);
  }
  Chart.register(...registerables);
  const vector = (picture: Picture, { theme, flag }: {
    theme: ThemeName;
    flag: SvgExportFlag;
  }) => {
    const canvas = createCanvas(picture.width, picture.height, flag);
    picture.draw(paperOf(picture, { pen: canvas.getContext("2d"), theme }));
    return canvas.getContent().toString();
  };
  const outlines = (draw: Picture["draw"]) =>
    vector({ name: "outlines", width: 4096, height: 4096, draw }, {
      theme: "light",
      flag: SvgExportFlag.ConvertTextToPaths,
    });
  return {
    svg(picture, theme) {
      const flag = SvgExportFlag.NoPrettyXML;
      return shareGlyphs(vector(picture, { theme, flag }), outlines);
    },
    async png(picture, theme) {
      const { width, height } = picture;
      const canvas = createCanvas(width * SCALE, height * SCALE);
      const pen = canvas.getContext("2d");
      picture.draw(paperOf(picture, { pen, theme, scale: SCALE }));
      return new Uint8Array(await canvas.encode("png"));
    },
  };
}

function paperOf({ width, height }: Picture, { pen, theme, scale = 1 }: {
  pen: SKRSContext2D;
  theme: ThemeName;
  scale?: number;
}): Paper {
  return new Paper(pen, { width, height, scale, theme: THEMES[theme] });
}
