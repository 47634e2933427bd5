/**
 * Draws the parts that the pictures of files share: title, note, legend, device and date.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { isPublished } from "../../bench/row/row.ts";
import type { ChartData } from "./data.ts";
import { drawKey, type LegendEntry } from "./palette.ts";
import type { Box, Paper } from "./paper.ts";

/** A picture of a file. Lengths are CSS pixels. */
export interface Picture {
  /** The name of its files, without an ending. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  draw(paper: Paper): void;
}

/** The margin at the left and right of a picture, CSS pixels. */
export const MARGIN = 24;
const HEAD = 74;
const FOOT = 40;
/** The height of a line of the note, CSS pixels. {@linkcode FRAME_HEIGHT} includes one line. */
export const NOTE = 18;

/** The height of what {@linkcode frame} draws above and below a picture, CSS pixels. */
export const FRAME_HEIGHT = HEAD + FOOT;

/** The words around a picture. */
export interface Words {
  /** The subject. The suite's title is added to it. */
  readonly title: string;
  /** How to read the picture: a line, or several. */
  readonly note: string | readonly string[];
}

/** Writes title, note, device and date. @returns The box between them. */
export function frame(paper: Paper, data: ChartData, words: Words): Box {
  const { dim, rule } = paper.theme;
  const { width, height } = paper;
  const room = width - 2 * MARGIN;
  const title = `${words.title}: ${data.title}`;
  const bold = { size: 18, bold: true } as const;
  const size = paper.fittingSize(title, room, bold);
  paper.text(title, [MARGIN, 26], { ...bold, size });
  const notes = typeof words.note === "string" ? [words.note] : words.note;
  for (const [i, note] of notes.entries()) {
    paper.text(note, [MARGIN, 50 + NOTE * i], {
      size: paper.fittingSize(note, room, { size: 13 }),
      color: dim,
    });
  }
  const line = height - FOOT + 10;
  paper.line([[MARGIN, line], [width - MARGIN, line]], { color: rule });
  const [place, how] = footer(data);
  const small = {
    size: paper.fittingSize(`${place}    ${how}`, room, { size: 11 }),
    color: dim,
  };
  paper.text(place, [MARGIN, line + 15], small);
  paper.text(how, [width - MARGIN, line + 15], { ...small, align: "right" });
  paper.words = { title, notes: [...notes, place, how] };
  const more = NOTE * (notes.length - 1);
  return {
    x: MARGIN,
    y: HEAD + more,
    width: room,
    height: height - FRAME_HEIGHT - more,
  };
}

/** Returns two lines: the device and dates, and how the rows were measured. */
function footer({ pivot, title, rows }: ChartData): [string, string] {
  const one = (
    column: keyof CsvRow,
    prefix = "",
    several: string = `${column}s`,
  ) => {
    const values = new Set(rows.map((row) => row[column]).filter(Boolean));
    if (values.size === 0) return [];
    const [first] = values;
    return [values.size === 1 ? prefix + first : `${values.size} ${several}`];
  };
  const dates = rows.map(({ time }) => time.slice(0, 10)).filter(Boolean)
    .toSorted();
  const [first, last] = [dates[0], dates.at(-1)];
  const place = [
    pivot.device || "unnamed device",
    ...one("arch", "", "architectures"),
    ...one("driver", "driver "),
    first === undefined
      ? "date not recorded"
      : first === last
      ? first
      : `${first} to ${last}`,
  ];
  const how = [
    // The title of an unknown suite is its name, which need not be repeated.
    ...title === pivot.suite ? [] : [pivot.suite],
    ...one("timer"),
    ...one("cache").map((cache) =>
      /warm|cold/.test(cache) ? `${cache} cache` : cache
    ),
    ...one("flush", "flush ", "flushes"),
    ...rows.every(isPublished)
      ? ["published figures", ...one("run")]
      : one("harness", "mnkbench ", "versions of mnkbench"),
  ];
  return [place.join(" · "), how.join(" · ")];
}

/** Divides `items` into lists of about the same length, of at most `most` items (at least one). */
export function inParts<T>(items: readonly T[], most: number): T[][] {
  const parts = Math.ceil(items.length / Math.max(1, Math.floor(most)));
  const length = Math.ceil(items.length / parts);
  return Array.from(
    { length: parts },
    (_, i) => items.slice(i * length, (i + 1) * length),
  ).filter((part) => part.length > 0);
}

/** Returns the name of a picture's part: `lead`, `lead-2`. */
export function partName(name: string, part: number): string {
  return part === 0 ? name : `${name}-${part + 1}`;
}

const KEY = 26;
const KEY_GAP = 22;
const KEY_LINE = 20;
const KEY_TEXT = { size: 13 };

/** Draws a legend from `x`, `y` on, in as many lines as it takes. @returns Its height. */
export function drawLegend(
  paper: Paper,
  entries: readonly LegendEntry[],
  { x, y, width }: Pick<Box, "x" | "y" | "width">,
): number {
  let [at, line] = [x, y + KEY_LINE / 2];
  for (const entry of entries) {
    const takes = KEY + paper.widthOf(entry.name, KEY_TEXT);
    if (at > x && at + takes > x + width) [at, line] = [x, line + KEY_LINE];
    drawKey(paper, entry, [at, line]);
    paper.text(entry.name, [at + KEY, line], KEY_TEXT);
    at += takes + KEY_GAP;
  }
  return line + KEY_LINE / 2 - y;
}
