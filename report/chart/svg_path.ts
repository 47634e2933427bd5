/**
 * Writes SVG paths with relative steps and lengths of one decimal.
 *
 * @module
 */

/** A step of a path, in pixels of the picture; `O` is a circle around a place. */
export type Step =
  | readonly ["M" | "L", x: number, y: number]
  | readonly ["Z"]
  | readonly ["O", x: number, y: number, radius: number];

/**
 * A path in tenths of a pixel: its first place, the steps from there as text, and the place where
 * they end.
 */
export interface Shape {
  readonly x: number;
  readonly y: number;
  readonly rest: string;
  readonly end: readonly [dx: number, dy: number];
}

/**
 * Returns `value` in whole tenths. A value in the middle of two is rounded up, also where it is
 * slightly inexact.
 */
export function tenths(value: number): number {
  return Math.round(value * 10 + 1e-4);
}

/** Formats a length with at most one decimal. */
export function decimal(value: number): string {
  return `${tenths(value) / 10}`;
}

/** Joins numbers in tenths by blanks, but with none before a minus. */
function joined(...values: readonly number[]): string {
  return values.map((value) => `${value / 10}`).join(" ")
    .replaceAll(" -", "-");
}

/** Returns the shape of `path`. Equal paths at different places have the same `rest`. */
export function shapeOf(path: readonly Step[]): Shape {
  const [x = 0, y = 0] = placeOf(path[0]!);
  let [atX, atY, startX, startY] = [0, 0, 0, 0];
  const rest = path.map((step, i): string => {
    if (step[0] === "Z") {
      [atX, atY] = [startX, startY];
      return path[i - 1]?.[0] === "O" ? "" : "z";
    }
    const [px, py] = placeOf(step);
    const r = step[0] === "O" ? tenths(step[3]!) : 0;
    const [toX, toY] = [tenths(px! - x) - r, tenths(py! - y)];
    const [dx, dy] = [toX - atX, toY - atY];
    [atX, atY] = [toX, toY];
    if (step[0] !== "L") [startX, startY] = [toX, toY];
    if (step[0] === "M") return i === 0 ? "" : `m${joined(dx, dy)}`;
    if (step[0] === "O") {
      const half = `a${r / 10} ${r / 10} 0 1 0`;
      return `m${joined(dx, dy)}${half} ${r / 5} 0${half}-${r / 5} 0`;
    }
    // A line of length 0 is kept as `h0`: with round ends it is a dot.
    if (dx === 0 && dy !== 0) return `v${dy / 10}`;
    return dy === 0 ? `h${dx / 10}` : `l${joined(dx, dy)}`;
  }).join("");
  return { x: tenths(x), y: tenths(y), rest, end: [atX, atY] };
}

function placeOf(step: Step): readonly number[] {
  return step[0] === "Z" ? [] : [step[1], step[2]];
}

/** Returns `shapes` as the attribute `d`. */
export function pathOf(shapes: readonly Shape[]): string {
  let at: readonly number[] = [0, 0];
  return shapes.map(({ x, y, rest, end }, i) => {
    const from = i === 0 ? `M${joined(x, y)}` : moved("m", at, [x, y]);
    at = [x + end[0], y + end[1]];
    return from + rest;
  }).join("");
}

/** Returns a path through the first places of `shapes`. */
export function verticesOf(shapes: readonly Shape[]): string {
  return shapes.map(({ x, y }, i) => {
    const last = shapes[i - 1];
    return last ? moved("l", [last.x, last.y], [x, y]) : `M${joined(x, y)}`;
  }).join("");
}

/** Returns the step from one place to another, relative or absolute, whichever is shorter. */
function moved(
  command: "m" | "l",
  [fromX, fromY]: readonly number[],
  [x, y]: readonly [number, number],
): string {
  const relative = `${command}${joined(x - fromX!, y - fromY!)}`;
  const absolute = `${command.toUpperCase()}${joined(x, y)}`;
  return absolute.length < relative.length ? absolute : relative;
}
