/** Reads the text of a picture. */

import type { Picture } from "../chart/frame.ts";
import { Paper } from "../chart/paper.ts";
import { FAMILY } from "../chart/studio.ts";
import { THEMES } from "../chart/theme.ts";

/** A text, and the box that its ink takes. */
export interface Written {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The upright texts of a picture, in the order in which they are written. */
export async function textsOf(picture: Picture): Promise<Written[]> {
  const { createCanvas } = await import("@napi-rs/canvas");
  const { width, height } = picture;
  const pen = createCanvas(width, height).getContext("2d");
  const fillText = pen.fillText.bind(pen);
  const texts: Written[] = [];
  pen.fillText = (text: string, x: number, y: number) => {
    const { a, b, e, f } = pen.getTransform();
    const box = pen.measureText(text);
    if (text.trim() !== "" && b === 0 && a === 1) {
      texts.push({
        text,
        left: e + x - box.actualBoundingBoxLeft,
        right: e + x + box.actualBoundingBoxRight,
        top: f + y - box.actualBoundingBoxAscent,
        bottom: f + y + box.actualBoundingBoxDescent,
      });
    }
    fillText(text, x, y);
  };
  const options = { width, height, scale: 1, family: FAMILY };
  picture.draw(new Paper(pen, { ...options, theme: THEMES.light }));
  return texts;
}
