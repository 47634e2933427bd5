/**
 * The shapes of points.
 *
 * @module
 */

type Draw = (r: number) => string;

const DRAW: Readonly<Record<string, Draw>> = {
  circle: (r) =>
    `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
  rect: (r) => `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  triangle: (r) => `M0,${-1.2 * r}L${1.15 * r},${0.9 * r}H${-1.15 * r}Z`,
  rectRot: (r) => `M0,${-1.3 * r}L${1.3 * r},0L0,${1.3 * r}L${-1.3 * r},0Z`,
  crossRot: (r) => `M${-r},${-r}L${r},${r}M${-r},${r}L${r},${-r}`,
  star: (r) =>
    `M${-r},${-r}L${r},${r}M${-r},${r}L${r},${-r}M0,${-1.3 * r}V${1.3 * r}M${
      -1.3 * r
    },0H${1.3 * r}`,
};

/** The outline of `mark` with radius `r`, around the origin. */
export function markPath(mark: string, r: number): string {
  return (DRAW[mark] ?? DRAW["circle"]!)(r);
}
