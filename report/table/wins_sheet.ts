/**
 * Wins, ties and losses as sheets.
 *
 * @module
 */

import type { Cell } from "./grid.ts";
import type { Pivot } from "../model/pivot.ts";
import { marksOf } from "./pivot_sheet.ts";
import type { Sheet } from "./layout.ts";
import { allWins } from "../model/wins.ts";

/** One sheet for each of `against` that `table` has. */
export function winsSheets(table: Pivot, against: readonly string[]): Sheet[] {
  const marks = marksOf(table);
  const own = allWins(table, against);
  return [...Map.groupBy(own, (wins) => wins.against)].map(([other, all]) => ({
    title:
      `${table.suite} on ${table.device}: how many times as fast as ${other}${
        marks.get(other) ?? ""
      }`,
    head: ["kernel", "wins/ties/losses", "min", "median", "max", "geomean"],
    body: all.map((wins): Cell[] => [
      { text: `${wins.kernel}${marks.get(wins.kernel) ?? ""}` },
      { text: `${wins.wins}/${wins.ties}/${wins.losses}` },
      ...[wins.min, wins.median, wins.max, wins.geomean].map((factor) => ({
        text: factor!.toFixed(3),
      })),
    ]),
    foot: [],
    notes: all.flatMap(({ kernel, missing, suspect }) => {
      const of = `of ${table.shapes.length} shapes`;
      const without = missing - suspect;
      return [
        ...(without === 0 ? [] : [
          `${kernel}: ${without} ${of} are not measured for it or ${other}, and not counted`,
        ]),
        ...(suspect === 0 ? [] : [
          `${kernel}: at ${suspect} ${of} it or ${other} is above SOL, and not counted`,
        ]),
      ];
    }),
  }));
}
