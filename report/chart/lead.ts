/**
 * How much faster the best kernel is than the best baseline, each of them whichever is
 * fastest at the shape.
 *
 * @module
 */

import { geomean } from "../../bench/measure/stats.ts";
import type { Picture } from "./canvas/canvas.ts";
import {
  formatUs,
  type PlotData,
  type Shape,
  suspectNote,
} from "./parts/data.ts";
import { fittingSize } from "./parts/fitting.ts";
import { type Ranked, ranked } from "./parts/ranked.ts";
import { beyond, colorOf, drawScale, endOf } from "./parts/scale.ts";
import { type Line, shapeMap } from "./shape_map.ts";

/** Room for the words and the key below the cells. */
const FOOT = 84;
/** From the left end of that room to the key, whose ends have words beside them. */
const INDENT = 52;

/** The fastest on either side at a shape. */
interface Duel {
  readonly own: Ranked | undefined;
  readonly other: Ranked | undefined;
}

/**
 * The map of the lead over the fastest baseline; where there is one baseline, the map of
 * speed-ups shows the same.
 */
export function lead(data: PlotData): readonly Picture[] | string {
  if (data.baseline === undefined) return "no case has a time";
  const timed = data.kernels.filter((kernel) =>
    data.shapes.some((shape) => data.at(shape, kernel)?.us !== undefined)
  );
  const isBaseline = (kernel: string) =>
    data.baselines?.includes(kernel) ?? false;
  const others = timed.filter(isBaseline);
  const own = timed.filter((kernel) => !isBaseline(kernel));
  if (others.length < 2) return "there is one baseline: see speedup";
  if (own.length === 0) return "no kernel but baselines has a time";
  const duelAt = (shape: Shape): Duel => ({
    own: ranked(data, shape, own)[0],
    other: ranked(data, shape, others)[0],
  });
  const factorsAt = (shapes: readonly Shape[]) =>
    shapes.map((shape) => factorOf(duelAt(shape)))
      .filter((factor) => factor !== undefined);
  const factors = factorsAt(data.shapes);
  if (factors.length === 0) return "no shape has a time of either side";
  const end = endOf(factors);
  return shapeMap(data, {
    name: "lead",
    title: "Speed-up over the fastest baseline",
    note: `At each shape: the fastest of all others against the fastest of ${
      others.join(", ")
    }; below, their latencies; at the left, a row's geometric mean${
      suspectNote(data)
    }`,
    labelOf({ label, shapes }) {
      const row = factorsAt(shapes);
      return row.length === 0
        ? label
        : `${label}  ${geomean(row)!.toFixed(2)}×`;
    },
    colorOf(shape, theme) {
      const factor = factorOf(duelAt(shape));
      return factor === undefined ? undefined : colorOf(factor, end, theme);
    },
    linesOf: (shape) => linesOf(duelAt(shape)),
    foot: {
      height: FOOT,
      draw(paper, { x, y, width }) {
        const words = summaryOf(factors);
        const room = width;
        paper.text(words, [x, y + 22], {
          size: fittingSize(paper, words, { room, size: 13 }),
        });
        drawScale(paper, [x + INDENT, y + 46], {
          end,
          ...beyond(factors, end),
        });
      },
    },
  });
}

function factorOf({ own, other }: Duel): number | undefined {
  return own && other && other.us / own.us;
}

function linesOf(duel: Duel): Line[] {
  const factor = factorOf(duel);
  const line = (ranked: Ranked | undefined, none: string): Line => ({
    text: ranked ? `${ranked.kernel} ${formatUs(ranked.us)}` : none,
    size: 11,
  });
  return [
    {
      text: factor === undefined ? "–" : `${factor.toFixed(2)}×`,
      size: 16,
      bold: true,
    },
    line(duel.own, "no other has a time"),
    line(duel.other, "no baseline has a time"),
  ];
}

/** `Geometric mean 1.31×, from 0.98× to 2.37×, over 32 shapes`. */
function summaryOf(factors: readonly number[]): string {
  const [mean, least, most] = [
    geomean(factors)!,
    Math.min(...factors),
    Math.max(...factors),
  ].map((factor) => `${factor.toFixed(2)}×`);
  return `Geometric mean ${mean}, from ${least} to ${most}, over ${factors.length} shapes`;
}
