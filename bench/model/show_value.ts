/**
 * Values in errors, whatever is in them.
 *
 * @module
 */

const MOST = 40;

/**
 * A value for people: quoted, without line ends, and not long.
 *
 * @example
 * ```ts
 * import { show } from "./show_value.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(show("a\nb"), '"a\\nb"');
 * ```
 */
export function show(value: string): string {
  const text = JSON.stringify(value);
  return text.length <= MOST ? text : `${text.slice(0, MOST - 1)}…`;
}
