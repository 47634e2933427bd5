/**
 * What the speed-ups of a table make of a whole that a product is a part of.
 *
 * @module
 */

import { geometricMean } from "simple-statistics";
import { amdahl, amdahlLimit } from "../bench/amdahl.ts";
import type { Sheet } from "./layout.ts";
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

/** `table` with a line a shape and, for each kernel, both speed-ups. */
export function wholeSheet(table: Pivot, fraction: number): Sheet {
  const all = wholeSpeedups(table, fraction);
  const kernels = [...new Set(all.map(({ kernel }) => kernel))];
  const shapes = [...new Set(all.map(({ shape }) => shape))];
  const factor = (x: number) => `${x.toFixed(3)}x`;
  const body = shapes.map((shape) => [
    { text: shape },
    ...kernels.flatMap((kernel) => {
      const one = all.find((a) => a.shape === shape && a.kernel === kernel);
      const texts = one
        ? [factor(one.speedup), factor(one.end_to_end)]
        : ["", ""];
      return texts.map((text) => ({ text }));
    }),
  ]);
  const mean = kernels.flatMap((kernel) => {
    const own = all.filter((a) => a.kernel === kernel);
    return [
      { text: factor(geometricMean(own.map((a) => a.speedup))) },
      { text: factor(geometricMean(own.map((a) => a.end_to_end))) },
    ];
  });
  return {
    title: `${table.suite} on ${table.device}, against ${table.baseline}`,
    head: ["shape", ...kernels.flatMap((kernel) => [kernel, "whole"])],
    body,
    foot: [[{ text: "geomean" }, ...mean]],
    notes: [limitNote(fraction)],
  };
}

/** What no kernel can get beyond. */
export function limitNote(fraction: number): string {
  const limit = amdahlLimit(fraction);
  // Not 57.99999999999999 for 0.58.
  const percent = Number((100 * fraction).toPrecision(12));
  return `${percent} % of the time is in products: the whole becomes at most ${
    Number.isFinite(limit) ? `${limit.toFixed(2)}x` : "any number of times"
  } as fast`;
}
