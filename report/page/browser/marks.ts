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
  triangleDown: (r) => `M0,${1.2 * r}L${1.15 * r},${-0.9 * r}H${-1.15 * r}Z`,
  bar: (r) => `M${-1.4 * r},${-0.5 * r}h${2.8 * r}v${r}h${-2.8 * r}Z`,
};

/** The outline of `mark` with radius `r`, around the origin; a hollow one has its own. */
export function markPath(mark: string, r: number): string {
  const shape = mark === "ring" ? "circle" : mark.replace(/Hollow$/, "");
  return (DRAW[shape] ?? DRAW["circle"]!)(r);
}

/** The classes of `mark`: a hollow one is drawn by its outline. */
export function markClass(mark: string): string {
  const hollow = mark === "ring" || mark.endsWith("Hollow");
  return hollow ? "mark hollow" : "mark";
}
