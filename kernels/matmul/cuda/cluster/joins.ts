/**
 * Into how many slices the tiles of a one-launch kernel are cut.
 *
 * @module
 */

import { type ClusterConfig, tilesOf } from "./configs.ts";
import type { MatmulPoint } from "../../point.ts";

type Shape = Pick<MatmulPoint, "m" | "n" | "k">;
type Tile = Pick<ClusterConfig, "BM" | "BN">;

/**
 * Sizes of clusters: those whose blocks fill the device once or twice, small ones where there
 * are tiles enough to make most units busy, and the largest, for few tiles.
 */
export function clusters(
  shape: Shape,
  tile: Tile,
  units: number,
): number[] {
  const [x, y] = tilesOf(shape, tile);
  const count = x * y;
  const full = [units, 2 * units].map((blocks) => Math.floor(blocks / count))
    .filter((size) => size >= 1 && size < 8);
  const small = [1, 2, 4].filter((size) =>
    2 * count * size >= units && (size === 1 || count * size <= 2 * units)
  );
  const large = [8, 16].filter((size) => count * size <= 4 * units);
  return [...new Set([...full, ...small, ...large])];
}

/**
 * Parts that make all of the device's units busy, or a half, a quarter, an eighth, those that take
 * no more K steps than the most parts do, and those of which each has whole steps of 256.
 */
export function parts(
  shape: Shape,
  { tile, units, CLUSTER }: {
    readonly tile: Tile;
    readonly units: number;
    readonly CLUSTER: number;
  },
): number[] {
  const [x, y] = tilesOf(shape, tile);
  const most = Math.floor(units / (x * y * CLUSTER));
  const whole = 2 ** Math.floor(Math.log2(most));
  const even: number[] = [];
  for (let count = most; count > most / 4 && even.length < 2; count--) {
    if (shape.k % (count * CLUSTER * 256) === 0) even.push(count);
  }
  const least = [128, 256].map((step) => {
    const steps = Math.ceil(shape.k / step / CLUSTER);
    return Math.ceil(steps / Math.ceil(steps / most));
  });
  const counts = [
    most,
    whole,
    ...least,
    ...even,
    whole / 2,
    whole / 4,
    whole / 8,
  ];
  return [...new Set(counts)].filter((count) => count >= 2);
}
