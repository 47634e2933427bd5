/**
 * Makes tables of wins, ties and losses.
 *
 * @module
 */

import type { Pivot } from "../model/pivot.ts";
import { allWins } from "../model/wins.ts";
import { launchNotesOf, marksOf, noiseNotesOf } from "./notes.ts";
import type { Cell, Sheet } from "./sheet.ts";
import { titleOf } from "./table.ts";

/** Returns one table of wins, ties and losses for each of `against` that `table` has. */
export function winsSheets(table: Pivot, against: readonly string[]): Sheet[] {
  const marks = marksOf(table);
  const own = allWins(table, against);
  return [...Map.groupBy(own, (wins) => wins.against)].map(([other, all]) => ({
    title: `${titleOf(table)}: how many times as fast as ${other}${
      marks.get(other) ?? ""
    }`,
    head: ["kernel", "wins/ties/losses", "min", "median", "max", "geomean"],
    body: all.map((wins): Cell[] => [
      { text: `${wins.kernel}${marks.get(wins.kernel) ?? ""}` },
      { text: `${wins.wins}/${wins.ties}/${wins.losses}` },
      ...[wins.min, wins.median, wins.max, wins.geomean].map((factor) => ({
        text: `${wins.noisy > 0 ? "~" : ""}${factor!.toFixed(3)}`,
      })),
    ]),
    foot: [],
    legend: "a tie: the same time to the last recorded digit",
    notes: [
      ...launchNotesOf(table),
      ...(all.some(({ noisy }) => noisy > 0) ? noiseNotesOf(table) : []),
      ...all.flatMap(({ kernel, missing, suspect }) => {
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
    ],
  }));
}
