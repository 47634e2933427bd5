import { strictEqual } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { drawingIn, drawingOf, withDrawing } from "./png.ts";

/** A PNG of one black pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==",
  "base64",
);

Deno.test("withDrawing() is read by drawingIn(), and leaves the picture", async () => {
  const drawing = drawingOf("<svg/>");
  const png = withDrawing(PIXEL, drawing);
  strictEqual(drawingIn(png), drawing);
  strictEqual(drawing.length, 64);
  const { loadImage } = await import("@napi-rs/canvas");
  const { width, height } = await loadImage(Buffer.from(png));
  strictEqual(`${width}×${height}`, "1×1");
});

Deno.test("drawingIn() finds nothing in other files", () => {
  strictEqual(drawingIn(PIXEL), undefined);
  strictEqual(drawingIn(new Uint8Array(3)), undefined);
});
