/**
 * Draws maps of cells: the speed-up of each kernel at each shape, which kernel is fastest, and
 * how far the fastest of our kernels is ahead of the fastest baseline.
 *
 * @module
 */

import { geomean } from "../../bench/measure/stats.ts";
import { type PivotShape, speedup as speedupOf } from "../model/pivot.ts";
import { timeOf } from "../model/sol.ts";
import {
  brokenName,
  type Cell,
  type CellLine,
  colorOf,
  drawCells,
  drawScale,
  roomForNames,
  type Scale,
  scaleOf,
} from "./cells.ts";
import {
  type ChartData,
  formatUs,
  hasTimes,
  NO_TIMES,
  type Ranked,
  ranked,
  shapeNames,
  statusOf,
  suspectNote,
  withoutBaseline,
} from "./data.ts";
import {
  frame,
  FRAME_HEIGHT,
  inParts,
  MARGIN,
  partName,
  type Picture,
  type Words,
} from "./frame.ts";
import { axisName, type Panel, panelsOf } from "./panels.ts";
import type { Box, Paper } from "./paper.ts";
import type { Theme } from "./theme.ts";

/** The heat map: the size of a cell, the heights above and below the cells, and the most cells. */
const HEAT = { row: 25, column: 118, head: 40, foot: 48, most: 400 } as const;

/** Draws how many times as fast as the baseline each kernel is at each shape, with its latency. */
export function speedup(data: ChartData): readonly Picture[] | string {
  const { pivot: { baseline, shapes }, kernels } = data;
  if (baseline === undefined) return withoutBaseline(data);
  const factors = shapes.flatMap((shape) =>
    kernels.map((kernel) => speedupOf(shape, kernel, baseline))
  ).filter((factor) => factor !== undefined);
  const scale = scaleOf(factors);
  const labels = shapeNames(shapes);
  const names = roomForNames(labels);
  const lines = shapes.map((shape, i) => ({ shape, name: labels[i]! }));
  return inParts(lines, HEAT.most / kernels.length).map((part, i) => ({
    name: partName("speedup", i),
    width: Math.max(900, 2 * MARGIN + names + HEAT.column * kernels.length),
    height: FRAME_HEIGHT + HEAT.head + HEAT.foot + 30 +
      HEAT.row * part.length,
    draw(paper) {
      const box = frame(paper, data, {
        title: `Speed-up over ${baseline}`,
        note:
          `Times as fast as ${baseline} at the same shape, and the median latency in µs in small print; the fastest of a row is bold${
            suspectNote(data)
          }`,
      });
      drawCells(paper, {
        columns: kernels,
        columnTitle: "",
        rows: part.map(({ shape, name }) => ({
          name,
          cells: cellsOf(data, shape, { scale, theme: paper.theme }),
        })),
      }, { box: { ...box, height: box.height - HEAT.foot }, names });
      const place = [box.x + names, box.y + box.height - 34] as const;
      drawScale(paper, place, scale);
    },
  }));
}

function cellsOf(
  { pivot: { baseline }, kernels }: ChartData,
  shape: PivotShape,
  { scale, theme }: { readonly scale: Scale; readonly theme: Theme },
): Cell[] {
  const best = ranked(shape, kernels)[0]?.us;
  return kernels.map((kernel): Cell => {
    const row = shape.rows.get(kernel);
    const us = timeOf(row);
    if (us === undefined) return { lines: [{ text: statusOf(row), size: 12 }] };
    const factor = speedupOf(shape, kernel, baseline);
    const text = factor === undefined ? "–" : `${factor.toFixed(2)}×`;
    const line = {
      text,
      size: 13,
      bold: us === best,
      beside: formatUs(us).replace(" µs", ""),
    };
    // Without a time of the baseline there is no speed-up, and the cell has no colour of the scale.
    const color = factor === undefined
      ? theme.void
      : colorOf(factor, scale, theme);
    return { color, lines: [line] };
  });
}

const COLUMN = 132;
const ROW = 84;
const HEAD = 62;
/** The most rows or columns of a map, and the most cells of one picture. */
const MOST = 48;
const MOST_CELLS = 200;
/** The height of the text and the key below the cells of `lead`, CSS pixels. */
const FOOT = 84;
/** The space left of the key for the word at its end, CSS pixels. */
const INDENT = 52;

interface ShapeMap extends Words {
  /** The name of the picture's file. */
  readonly name: string;
  cellOf(shape: PivotShape, theme: Theme): Cell;
  rowName(panel: Panel<PivotShape>): string;
  /** Draws below the cells. @default {nothing} */
  readonly foot?: (paper: Paper, box: Box) => void;
}

/** Draws the map of the fastest kernels. */
export function fastest(data: ChartData): readonly Picture[] | string {
  if (!hasTimes(data)) return NO_TIMES;
  return shapeMap(data, {
    name: "fastest",
    title: "Fastest kernel",
    note:
      `At each shape: the kernel with the least median latency; below, the second, and how many times as long it takes${
        suspectNote(data)
      }`,
    rowName: ({ label }) => label,
    cellOf(shape) {
      const [best] = ranked(shape, data.kernels);
      const lines = linesOf(data, shape);
      return best
        ? { color: data.looks.get(best.kernel)!.color, lines }
        : { lines };
    },
  });
}

/**
 * Draws the map of how many times as fast the fastest of our kernels is as the fastest baseline or
 * peer. With one kernel of each it is left out: the map of speed-ups shows the same.
 */
export function lead(data: ChartData): readonly Picture[] | string {
  const { pivot: { shapes }, kernels } = data;
  if (!hasTimes(data)) return NO_TIMES;
  const timed = kernels.filter((kernel) =>
    shapes.some((shape) => ranked(shape, [kernel]).length > 0)
  );
  const peers = data.pivot.contenders.filter(({ peer }) => peer)
    .map(({ name }) => name);
  const isBaseline = (kernel: string) =>
    data.baselines.includes(kernel) || peers.includes(kernel);
  const others = timed.filter(isBaseline);
  const own = timed.filter((kernel) => !isBaseline(kernel));
  if (own.length === 0) return "no kernel but baselines and peers has a time";
  if (others.length === 0) return "no baseline and no peer has a time";
  if (own.length === 1 && others.length === 1) {
    return "there is one kernel and one baseline: see speedup";
  }
  const duelAt = (shape: PivotShape): Duel => ({
    own: ranked(shape, own)[0],
    other: ranked(shape, others)[0],
  });
  const factorsAt = (some: readonly PivotShape[]) =>
    some.map((shape) => factorOf(duelAt(shape)))
      .filter((factor) => factor !== undefined);
  const factors = factorsAt(shapes);
  if (factors.length === 0) return "no shape has a time of either side";
  const scale = scaleOf(factors);
  return shapeMap(data, {
    name: "lead",
    title: "Speed-up over the fastest baseline or peer",
    note: `At each shape: the fastest of all others against the fastest of ${
      others.join(", ")
    }; below, their latencies; at the left, a row's geometric mean${
      suspectNote(data)
    }`,
    rowName({ label, items }) {
      const mean = geomean(factorsAt(items));
      return mean === undefined ? label : `${label}  ${mean.toFixed(2)}×`;
    },
    cellOf(shape, theme) {
      const duel = duelAt(shape);
      const factor = factorOf(duel);
      const lines = duelLines(duel);
      return factor === undefined
        ? { lines }
        : { color: colorOf(factor, scale, theme), lines };
    },
    foot(paper, { x, y, width }) {
      const words = summaryOf(factors);
      const size = paper.fittingSize(words, width, { size: 13 });
      paper.text(words, [x, y + 22], { size });
      drawScale(paper, [x + INDENT, y + 46], scale);
    },
  });
}

/** Returns the map as a picture, or why there is none. */
function shapeMap(data: ChartData, map: ShapeMap): Picture[] | string {
  const { axis, panels, values } = panelsOf(data.pivot.shapes);
  const columns = axis === undefined ? [""] : values;
  // If no two shapes differ in one axis alone, each shape has a row of its own.
  const rows = axis === undefined
    ? data.pivot.shapes.map((shape) => ({ label: shape.label, items: [shape] }))
    : panels;
  if (columns.length > MOST || rows.length > MOST) {
    return `${rows.length} × ${columns.length} cells would not be read`;
  }
  const labels = rows.map((row) => map.rowName(row));
  const names = roomForNames(labels);
  const foot = map.foot ? FOOT : 0;
  const lines = rows.map((row, i) => ({ ...row, name: labels[i]! }));
  return inParts(lines, MOST_CELLS / columns.length).map((part, i) => ({
    name: partName(map.name, i),
    width: Math.max(760, 2 * MARGIN + names + COLUMN * columns.length),
    height: FRAME_HEIGHT + HEAD + ROW * part.length + foot,
    draw(paper) {
      const { theme } = paper;
      const box = frame(paper, data, map);
      const none: Cell = {
        color: theme.void,
        lines: [{ text: "not in the suite", size: 12 }],
      };
      drawCells(paper, {
        columns,
        columnTitle: axis === undefined ? "" : axisName(axis),
        rows: part.map(({ items, name }) => ({
          name,
          cells: columns.map((value) => {
            const shape = items.find(({ point }) =>
              axis === undefined || point[axis] === value
            );
            return shape ? map.cellOf(shape, theme) : none;
          }),
        })),
      }, { box: { ...box, height: box.height - foot }, names });
      map.foot?.(paper, {
        x: box.x + names,
        y: box.y + box.height - foot,
        width: box.width - names,
        height: foot,
      });
    },
  }));
}

function linesOf(data: ChartData, shape: PivotShape): CellLine[] {
  const [best, next] = ranked(shape, data.kernels);
  const all = data.kernels.map((name) => shape.rows.get(name));
  if (!best) {
    const said = new Set(all.map(statusOf));
    return [{ text: [...said].join(", "), size: 11 }];
  }
  const failed = all.filter((row) => timeOf(row) === undefined).length;
  const second = next
    ? `next ${next.kernel} ${(next.us / best.us).toFixed(2)}×`
    : "no other has a time";
  return [
    ...brokenName(best.kernel).map((text) => ({ text, size: 12, bold: true })),
    { text: formatUs(best.us), size: 11 },
    { text: second, size: 10 },
    ...failed > 0 ? [{ text: `${failed} not measured`, size: 10 }] : [],
  ];
}

/** The fastest of our kernels and the fastest baseline or peer at a shape. */
interface Duel {
  readonly own: Ranked | undefined;
  readonly other: Ranked | undefined;
}

function factorOf({ own, other }: Duel): number | undefined {
  return own && other && other.us / own.us;
}

function duelLines(duel: Duel): CellLine[] {
  const factor = factorOf(duel);
  const line = (ranked: Ranked | undefined, none: string): CellLine => ({
    text: ranked ? `${ranked.kernel} ${formatUs(ranked.us)}` : none,
    size: 11,
  });
  const text = factor === undefined ? "–" : `${factor.toFixed(2)}×`;
  return [
    { text, size: 16, bold: true },
    line(duel.own, "no other has a time"),
    line(duel.other, "no baseline has a time"),
  ];
}

/** `Geometric mean 1.31×, from 0.98× to 2.37×, over 32 shapes`. */
function summaryOf(factors: readonly number[]): string {
  const ends = [geomean(factors)!, Math.min(...factors), Math.max(...factors)];
  const [mean, least, most] = ends.map((factor) => `${factor.toFixed(2)}×`);
  return `Geometric mean ${mean}, from ${least} to ${most}, over ${factors.length} shapes`;
}
