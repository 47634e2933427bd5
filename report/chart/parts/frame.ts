/**
 * What every picture has around it: title, what it shows, device and date.
 *
 * @module
 */

import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { isPublished } from "../../../bench/row/row.ts";
import type { Box, Paper } from "../canvas/paper.ts";
import type { PlotData } from "./data.ts";
import { fittingSize } from "./fitting.ts";

/** Room at the sides of a picture, CSS pixels. */
export const MARGIN = 24;
const HEAD = 74;
const FOOT = 40;

/** Room that {@linkcode frame} takes of a picture's height. */
export const FRAME_HEIGHT = HEAD + FOOT;

/** The words around a picture. */
export interface Words {
  /** What is shown; the suite's title comes after it. */
  readonly title: string;
  /** How it is to be read. */
  readonly note: string;
}

/** Writes the words. @returns The room between them. */
export function frame(paper: Paper, data: PlotData, words: Words): Box {
  const { dim, rule } = paper.theme;
  const { width, height } = paper;
  const room = width - 2 * MARGIN;
  const title = `${words.title}: ${data.title}`;
  paper.text(title, [MARGIN, 26], {
    size: fittingSize(paper, title, { room, size: 18, bold: true }),
    bold: true,
  });
  paper.text(words.note, [MARGIN, 50], {
    size: fittingSize(paper, words.note, { room, size: 13 }),
    color: dim,
  });
  const line = height - FOOT + 10;
  paper.line([[MARGIN, line], [width - MARGIN, line]], { color: rule });
  const [place, how] = footer(data);
  const size = fittingSize(paper, `${place}    ${how}`, { room, size: 11 });
  paper.text(place, [MARGIN, line + 15], { size, color: dim });
  paper.text(how, [width - MARGIN, line + 15], {
    size,
    color: dim,
    align: "right",
  });
  return { x: MARGIN, y: HEAD, width: room, height: height - FRAME_HEIGHT };
}

/** Where and when, and how it was measured. */
function footer({ device, suite, title, rows }: PlotData): [string, string] {
  const one = (column: keyof CsvRow, prefix = "") => {
    const values = new Set(rows.map((row) => row[column]).filter(Boolean));
    if (values.size === 0) return [];
    const [first] = values;
    return [values.size === 1 ? prefix + first : `${values.size} ${column}s`];
  };
  const dates = rows.map(({ time }) => time.slice(0, 10)).filter(Boolean)
    .toSorted();
  const [first, last] = [dates[0], dates.at(-1)];
  const place = [
    device || "unnamed device",
    ...one("arch"),
    ...one("driver", "driver "),
    first === undefined
      ? "date not recorded"
      : first === last
      ? first
      : `${first} to ${last}`,
  ];
  const how = [
    // A suite that nothing is known of has its name for a title.
    ...title === suite ? [] : [suite],
    ...one("timer"),
    ...one("cache").map((cache) =>
      /warm|cold/.test(cache) ? `${cache} cache` : cache
    ),
    ...one("flush").map((flush) => `flush ${flush}`),
    ...rows.every(isPublished)
      ? ["published figures", ...one("run")]
      : one("harness", "mnkbench "),
  ];
  return [place.join(" · "), how.join(" · ")];
}
