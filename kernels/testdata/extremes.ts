/**
 * Few configs of a kernel that between them have every value of every tunable.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";
import type { Values } from "../../bench/model/grid.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";

/** A config at a point where it is legal. */
export interface Extreme<P> {
  readonly point: P;
  readonly config: Values;
}

/**
 * Takes legal configs of `points`, each time the first of those that bring most values that no
 * one had yet: of a tunable, or of what `traits` says of a point.
 */
export function extremes<P>(
  kernel: Kernel<P>,
  { points, info, traits }: {
    readonly points: readonly P[];
    readonly info: DeviceInfo;
    readonly traits: (point: P) => readonly string[];
  },
): readonly Extreme<P>[] {
  const all = points
    .filter((point) => kernel.unsupported(point, info) === undefined)
    .flatMap((point) =>
      [...kernel.candidates(point, info)]
        .filter(({ illegal }) => illegal === undefined)
        .map(({ config }) => ({
          point,
          config,
          values: [
            ...Object.entries(config).map((entry) => entry.join("=")),
            ...traits(point),
          ],
        }))
    );
  const missing = new Set(all.flatMap(({ values }) => values));
  const taken: Extreme<P>[] = [];
  const news = (values: readonly string[]) =>
    values.filter((value) => missing.has(value)).length;
  while (missing.size > 0) {
    const best = all.reduce((best, next) =>
      news(next.values) > news(best.values) ? next : best
    );
    taken.push({ point: best.point, config: best.config });
    for (const value of best.values) missing.delete(value);
  }
  return taken;
}
