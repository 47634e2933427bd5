/**
 * Which pictures are not those of the rows.
 *
 * @module
 */

import type { Picture, Studio } from "../../../report/chart/canvas/canvas.ts";
import { join, resolve } from "node:path";
import { readBytesIfThere, readIfThere } from "../../../bench/files/disk.ts";
import type { ThemeName } from "../../../report/chart/canvas/theme.ts";
import { drawingIn, drawingOf } from "../../../report/chart/canvas/png.ts";

/** What was found of the pictures of a folder. */
export interface Checked {
  /** A line for each file that is stale or of no row, and one where there is none at all. */
  readonly lines: readonly string[];
  /** Files that are there, of those that the rows have. */
  readonly there: number;
  readonly of: number;
}

/**
 * Compares the files of `folder` with what would be drawn. One that is not there is not
 * stale, as who keeps pictures may keep some of them; a folder without any is.
 *
 * An SVG is compared byte for byte; a PNG by the drawing that it says it is of, since
 * another machine's rasteriser may round a pixel elsewhere.
 */
export function staleIn(
  folder: string,
  { pictures, studio, theme, out }: {
    pictures: readonly Drawn[];
    studio: Studio;
    theme: ThemeName;
    out: string;
  },
): Checked {
  const lines: string[] = [];
  let there = 0;
  const expected = new Set<string>();
  for (const { path, picture } of pictures) {
    const svg = studio.svg(picture, theme);
    const vector = readIfThere(`${path}.svg`);
    const raster = readBytesIfThere(`${path}.png`);
    const states = [
      [".svg", vector === undefined, vector === svg],
      [
        ".png",
        raster === undefined,
        raster && drawingIn(raster) === drawingOf(svg),
      ],
    ] as const;
    for (const [ending, missing, same] of states) {
      const file = `${path}${ending}`;
      expected.add(file);
      if (missing) continue;
      there++;
      if (!same) lines.push(`stale    ${file}`);
    }
  }
  for (const file of picturesIn(resolve(out, folder), theme)) {
    if (!expected.has(file)) lines.push(`of no row, delete it  ${file}`);
  }
  if (there === 0 && expected.size > 0) {
    lines.push(
      `missing  ${resolve(out, folder)}, of which no picture is there`,
    );
  }
  return { lines, there, of: expected.size };
}

/** The pictures of a theme in `folder`. */
function picturesIn(folder: string, theme: ThemeName): string[] {
  let entries: Deno.DirEntry[];
  try {
    entries = [...Deno.readDirSync(folder)];
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return [];
    throw cause;
  }
  return entries.map(({ name }) => name)
    .filter((name) => /\.(png|svg)$/.test(name))
    .filter((name) => /-dark\.\w+$/.test(name) === (theme === "dark"))
    .toSorted().map((name) => join(folder, name));
}

/** A picture's file without its ending, and the drawing. */
export interface Drawn {
  readonly path: string;
  readonly picture: Picture;
}
