/**
 * The options that select a point again.
 *
 * @module
 */

/**
 * `--m`, `--n` and `--k` with the sizes of `key`. An op over a list of problems has their
 * sums and maxima there, and the lists among its parameters.
 *
 * @example
 * ```ts
 * import { sizeOptions } from "./size_options.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const key = { m: "19", n: "64", k: "128" };
 * strictEqual(sizeOptions({ ...key, params: "" }), "--m 19 --n 64 --k 128");
 * const params = "groups=2 m=16+3 n=64 k=128";
 * strictEqual(sizeOptions({ ...key, params }), "--m 16+3 --n 64 --k 128");
 * ```
 */
export function sizeOptions(
  key: Readonly<Record<"m" | "n" | "k", string | number> & { params: string }>,
): string {
  const words = key.params.split(" ");
  return (["m", "n", "k"] as const).map((axis) => {
    const own = words.find((word) => word.startsWith(`${axis}=`));
    return `--${axis} ${own?.slice(2) ?? key[axis]}`;
  }).join(" ");
}
