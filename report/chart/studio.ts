/**
 * Draws pictures into PNG and SVG files, on a canvas without a browser.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import process from "node:process";
import { crc32 } from "node:zlib";
import type { SKRSContext2D } from "@napi-rs/canvas";
import bold from "dejavu-fonts-ttf/ttf/DejaVuSansCondensed-Bold.ttf" with {
  type: "bytes",
};
import regular from "dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf" with {
  type: "bytes",
};
import type { Picture } from "./frame.ts";
import { Paper } from "./paper.ts";
import { SvgPen } from "./svg_pen.ts";
import { type ThemeName, THEMES } from "./theme.ts";

/** The name under which the typeface is loaded for PNG files. No installed typeface has this name. */
export const FAMILY = "mnkbench-sans";
/**
 * The typefaces of SVG files: that of {@linkcode FAMILY} where it is installed, else one of about
 * its width.
 */
const FALLBACK = "DejaVu Sans Condensed, Arial, sans-serif";
/** PNG pixels for each CSS pixel. Two are sharp in print and on dense screens. */
const SCALE = 2;

/** Draws pictures. Made by {@linkcode openStudio}. */
export interface Studio {
  /** Returns `picture` as an SVG file with text that can be selected. */
  svg(picture: Picture, theme: ThemeName): string;
  /**
   * Returns `picture` as a PNG file, drawn at once and compressed in the background.
   *
   * @param svg The same picture as SVG. It is stored in the PNG, for {@linkcode Studio.isOf}.
   */
  png(
    picture: Picture,
    theme: ThemeName,
    svg: string,
  ): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns whether a PNG says that it was made with `svg`. */
  isOf(svg: string, png: Uint8Array): boolean;
}

/** Loads the native library that draws. Importing this file does not load it. */
export async function openStudio(): Promise<Studio> {
  // Keeps the library from searching for fonts in the system and in the user's home.
  process.env.DISABLE_SYSTEM_FONTS_LOAD = "1";
  const { createCanvas, GlobalFonts } = await import(
    "@napi-rs/canvas"
  );
  if (!GlobalFonts.has(FAMILY)) {
    for (const font of [regular, bold]) {
      GlobalFonts.register(Buffer.from(font), FAMILY);
    }
  }
  return {
    svg(picture, theme) {
      const pen = new SvgPen(createCanvas(1, 1).getContext("2d"));
      // An SvgPen has all of the interface that charts use.
      const paper = paperOf(picture, { pen: pen as never, theme });
      picture.draw(paper);
      const { width, height } = picture;
      const { title, notes } = paper.words;
      const description = notes.join(" ");
      return pen.format({
        width,
        height,
        title,
        description,
        family: FALLBACK,
      });
    },
    async png(picture, theme, svg) {
      const { width, height } = picture;
      const canvas = createCanvas(width * SCALE, height * SCALE);
      const pen = canvas.getContext("2d");
      picture.draw(paperOf(picture, { pen, theme, scale: SCALE }));
      return withDrawing(await canvas.encode("png"), drawingOf(svg));
    },
    isOf: (svg, png) => drawingIn(png) === drawingOf(svg),
  };
}

function paperOf({ width, height }: Picture, { pen, theme, scale = 1 }: {
  pen: SKRSContext2D;
  theme: ThemeName;
  scale?: number;
}): Paper {
  const options = { width, height, scale, family: FAMILY };
  return new Paper(pen, { ...options, theme: THEMES[theme] });
}

/** Bytes before the first chunk that may be added: the signature and the chunk IHDR. */
const HEAD = 8 + 4 + 4 + 13 + 4;
const KEYWORD = "mnkbench";

function drawingOf(svg: string): string {
  return createHash("sha256").update(svg).digest("hex");
}

/** Returns `png` with `drawing` written into it, as PNG's tEXt chunk. */
function withDrawing(
  png: Uint8Array,
  drawing: string,
): Uint8Array<ArrayBuffer> {
  const content = Buffer.from(`tEXt${KEYWORD}\0${drawing}`, "latin1");
  const chunk = Buffer.alloc(4 + content.length + 4);
  chunk.writeUInt32BE(content.length - 4, 0);
  content.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(content), 4 + content.length);
  return new Uint8Array(
    Buffer.concat([png.subarray(0, HEAD), chunk, png.subarray(HEAD)]),
  );
}

/** Returns what {@linkcode withDrawing} wrote into `png`; undefined in another file. */
function drawingIn(png: Uint8Array): string | undefined {
  const text = Buffer.from(png.subarray(HEAD, HEAD + 128)).toString("latin1");
  return /^.{4}tEXtmnkbench\0([0-9a-f]{64})/s.exec(text)?.[1];
}
