/**
 * Which kernel is fastest at each shape, and by how much.
 *
 * @module
 */

import type { Picture } from "./canvas/canvas.ts";
import { brokenName } from "./parts/cells.ts";
import {
  formatUs,
  type PlotData,
  type Shape,
  statusOf,
  suspectNote,
} from "./parts/data.ts";
import { ranked } from "./parts/ranked.ts";
import { type Line, shapeMap } from "./shape_map.ts";

/** The map of the fastest kernels: groups of shapes down, the size that varies across. */
export function fastest(data: PlotData): readonly Picture[] | string {
  if (data.baseline === undefined) return "no case has a time";
  return shapeMap(data, {
    name: "fastest",
    title: "Fastest kernel",
    note:
      `At each shape: the kernel with the least median latency; below, the second, and how many times as long it takes${
        suspectNote(data)
      }`,
    colorOf(shape) {
      const [best] = ranked(data, shape, data.kernels);
      return best && data.looks.get(best.kernel)!.color;
    },
    linesOf: (shape) => linesOf(data, shape),
  });
}

function linesOf(data: PlotData, shape: Shape): Line[] {
  const timed = ranked(data, shape, data.kernels);
  const [best, next] = timed;
  const failed =
    data.kernels.filter((name) => data.at(shape, name)?.us === undefined)
      .length;
  if (!best) {
    const said = data.kernels.map((name) => statusOf(data.at(shape, name)));
    return [{ text: [...new Set(said)].join(", "), size: 11 }];
  }
  return [
    ...brokenName(best.kernel).map((text) => ({ text, size: 12, bold: true })),
    { text: formatUs(best.us), size: 11 },
    next
      ? {
        text: `next ${next.kernel} ${(next.us / best.us).toFixed(2)}×`,
        size: 10,
      }
      : { text: "no other has a time", size: 10 },
    ...failed > 0 ? [{ text: `${failed} not measured`, size: 10 }] : [],
  ];
}
