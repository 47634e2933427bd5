/**
 * Pictures that stay readable: what is too much for one goes on another.
 *
 * @module
 */

/**
 * `items` in pages of at most `most` in size, at least one item each.
 *
 * @param sizeOf What an item takes of a page.
 * @example
 * ```ts
 * import { pagesOf } from "./pages.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(pagesOf([3, 3, 3, 9, 1], 7, (size) => size), [[3, 3], [3], [9], [1]]);
 * ```
 */
export function pagesOf<T>(
  items: readonly T[],
  most: number,
  sizeOf: (item: T) => number = () => 1,
): T[][] {
  const pages: T[][] = [];
  let room = -1;
  for (const item of items) {
    room -= sizeOf(item);
    if (room < 0) {
      pages.push([]);
      room = most - sizeOf(item);
    }
    pages.at(-1)!.push(item);
  }
  return pages;
}

/** The name of a picture that is a page, and what its title says of that. */
export function pageName(
  name: string,
  page: number,
  pages: number,
): { name: string; part: string } {
  return {
    name: page === 0 ? name : `${name}-${page + 1}`,
    part: pages > 1 ? ` (${page + 1} of ${pages})` : "",
  };
}
