/**
 * What the speed-ups of a table make of a whole that GEMMs are a part of.
 *
 * @module
 */

import { geomean } from "../../bench/measure/stats.ts";
import { amdahl, amdahlLimit } from "../../bench/tune/amdahl.ts";
import type { Cell } from "../table/grid.ts";
import type { Sheet } from "../table/layout.ts";
import { type Pivot, speedup } from "./pivot.ts";

/** A shape, a kernel, and both speed-ups. */
export interface WholeSpeedup {
  readonly suite: string;
  readonly device: string;
  readonly shape: string;
  readonly kernel: string;
  readonly baseline: string;
  readonly speedup: number;
  readonly end_to_end: number;
}

/** Every kernel but the baseline, at every shape where both have a time. */
export function wholeSpeedups(
  table: Pivot,
  fraction: number,
): readonly WholeSpeedup[] {
  const { suite, device, shapes, contenders, baseline } = table;
  if (baseline === undefined) return [];
  return shapes.flatMap((shape) =>
    contenders.filter(({ name }) => name !== baseline).flatMap(({ name }) => {
      const own = speedup(shape, name, baseline);
      if (own === undefined) return [];
      return [{
        suite,
        device,
        shape: shape.label,
        kernel: name,
        baseline,
        speedup: own,
        end_to_end: amdahl(fraction, own),
      }];
    })
  );
}

/** Kernels that stand side by side; more would be wider than a screen. */
const BESIDE = 2;

/**
 * `table` with a line a shape and, for each kernel, both speed-ups; of more than two kernels
 * a line a kernel, over all of its shapes.
 */
export function wholeSheet(table: Pivot, fraction: number): Sheet {
  const all = wholeSpeedups(table, fraction);
  const byKernel = Map.groupBy(all, ({ kernel }) => kernel);
  return {
    title: `${table.suite} on ${table.device}, against ${table.baseline}`,
    ...(byKernel.size > BESIDE ? lineEach(byKernel) : besides(byKernel, all)),
    notes: [
      ...(byKernel.size > BESIDE
        ? ["geometric means over the shapes; --kernel NAME has each shape"]
        : []),
      limitNote(fraction),
    ],
  };
}

type ByKernel = ReadonlyMap<string, readonly WholeSpeedup[]>;

function besides(
  byKernel: ByKernel,
  all: readonly WholeSpeedup[],
): Pick<Sheet, "head" | "body" | "foot"> {
  const kernels = [...byKernel.keys()];
  const shapes = [...new Set(all.map(({ shape }) => shape))];
  const body = shapes.map((shape) => [
    { text: shape },
    ...kernels.flatMap((kernel) => {
      const one = byKernel.get(kernel)!.find((a) => a.shape === shape);
      return one
        ? [factor(one.speedup), factor(one.end_to_end)]
        : [{ text: "" }, { text: "" }];
    }),
  ]);
  return {
    head: ["shape", ...kernels.flatMap((kernel) => [kernel, "whole"])],
    body,
    foot: [[{ text: "geomean" }, ...[...byKernel.values()].flatMap(means)]],
  };
}

function lineEach(
  byKernel: ByKernel,
): Pick<Sheet, "head" | "body" | "foot"> {
  const body = [...byKernel].map(([kernel, own]) => {
    const wholes = own.map((one) => one.end_to_end);
    return [
      { text: kernel },
      { text: `${own.length}` },
      ...means(own),
      factor(Math.min(...wholes)),
      factor(Math.max(...wholes)),
    ];
  });
  return {
    head: ["kernel", "shapes", "GEMM", "whole", "least", "most"],
    body,
    foot: [],
  };
}

/** Geometric means of both speed-ups. */
function means(own: readonly WholeSpeedup[]): readonly Cell[] {
  return [
    factor(geomean(own.map((one) => one.speedup))!),
    factor(geomean(own.map((one) => one.end_to_end))!),
  ];
}

function factor(x: number): Cell {
  return { text: `${x.toFixed(3)}x` };
}

/** What no kernel can get beyond. */
export function limitNote(fraction: number): string {
  const limit = amdahlLimit(fraction);
  // Not 57.99999999999999 for 0.58.
  const percent = Number((100 * fraction).toPrecision(12));
  return `${percent} % of the time is in GEMMs: the whole becomes at most ${
    Number.isFinite(limit) ? `${limit.toFixed(2)}x` : "any number of times"
  } as fast`;
}
