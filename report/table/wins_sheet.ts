/**
 * Makes tables of wins, ties and losses.
 *
 * @module
 */

import type { Pivot } from "../model/pivot.ts";
import { allWins, type RowWins } from "../model/wins.ts";
import { launchNotesOf, marksOf, noiseNotesOf } from "./notes.ts";
import type { Cell, Sheet } from "./sheet.ts";
import { titleOf } from "./table.ts";

/** Lost shapes that are named unless all are asked for. */
const MOST_LOST = 5;

/** Says where the first of our kernels loses. */
function lossNotes(
  wins: RowWins | undefined,
  all: boolean,
): readonly string[] {
  if (wins === undefined || wins.lost.length === 0) return [];
  const { kernel, lost } = wins;
  const shown = lost.slice(0, all ? undefined : MOST_LOST)
    .map(({ label, factor }) => `${label} (${factor.toFixed(3)})`);
  const more = lost.length - shown.length;
  return [
    `${kernel} loses most at ${shown.join(", ")}${
      more > 0 ? `, and at ${more} more: --all names them` : ""
    }`,
  ];
}

/**
 * Returns one table of wins, ties and losses for each of `against` that `table` has.
 *
 * @param options `all`: whether every lost shape is named.
 */
export function winsSheets(
  table: Pivot,
  against: readonly string[],
  { all: isAll = false }: { readonly all?: boolean | undefined } = {},
): Sheet[] {
  const marks = marksOf(table);
  const own = allWins(table, against);
  const theirs = new Set(
    table.contenders.filter(({ peer, published }) => peer || published)
      .map(({ name }) => name),
  );
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
      ...lossNotes(all.find(({ kernel }) => !theirs.has(kernel)), isAll),
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
            `${kernel}: at ${suspect} ${of} it or ${other} is suspect (above SOL, or results may be remembered), and not counted`,
          ]),
        ];
      }),
    ],
  }));
}
