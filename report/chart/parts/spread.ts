/**
 * Labels that do not overlap.
 *
 * @module
 */

/**
 * Heights as near to `wanted` as labels `gap` apart can be within `from` and `to`, in the
 * order given. Where there is no room for all, they are as far apart as there is.
 *
 * @example
 * ```ts
 * import { spread } from "./spread.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(spread([50, 10, 12], { gap: 10, from: 0, to: 100 }), [50, 6, 16]);
 * ```
 */
export function spread(
  wanted: readonly number[],
  { gap, from, to }: { gap: number; from: number; to: number },
): number[] {
  const apart = Math.min(gap, (to - from) / Math.max(1, wanted.length - 1));
  const order = wanted.map((_, i) => i).toSorted((a, b) =>
    wanted[a]! - wanted[b]! || a - b
  );
  // Clusters of labels that touch; each is centred on what its labels want.
  const clusters: { first: number; wants: number[] }[] = [];
  const topOf = ({ wants }: { wants: number[] }) => {
    const mean = wants.reduce((sum, want, i) => sum + want - i * apart, 0) /
      wants.length;
    return Math.min(Math.max(mean, from), to - (wants.length - 1) * apart);
  };
  for (const [at, i] of order.entries()) {
    clusters.push({ first: at, wants: [wanted[i]!] });
    for (;;) {
      const [above, last] = clusters.slice(-2);
      if (!above || !last) break;
      if (topOf(above) + above.wants.length * apart <= topOf(last)) break;
      clusters.splice(-2, 2, {
        first: above.first,
        wants: [...above.wants, ...last.wants],
      });
    }
  }
  const heights: number[] = [];
  for (const cluster of clusters) {
    for (let i = 0; i < cluster.wants.length; i++) {
      heights[order[cluster.first + i]!] = topOf(cluster) + i * apart;
    }
  }
  return heights;
}
