/**
 * Selects the findings of `deno doc --lint` that this repository fixes.
 *
 * @module
 */

/** A complaint of `deno doc --lint`. */
interface Complaint {
  /** e.g. `missing-jsdoc`. */
  readonly code: string;
  readonly message: string;
  readonly place: string;
  /** True if it is about a part of an exported symbol: a field, a method. */
  readonly member: boolean;
}

/**
 * The complaints in what `deno doc --lint` printed, a line each.
 *
 * A member without a JSDoc is none, as most are told by their names and types. Local
 * types in signatures matter only in the package's `exports`, which users import.
 *
 * @example
 * ```ts
 * import { complaints } from "./doc_lint.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const text = `error[missing-jsdoc]: exported symbol is missing JSDoc documentation
 *   --> bench/a.ts:9:17
 *   |
 *  9 | export function area() {
 * error[missing-jsdoc]: exported symbol is missing JSDoc documentation
 *   --> bench/a.ts:12:3
 *   |
 * 12 |   readonly width: number;
 * error[private-type-ref]: public type 'A' references private type 'B'
 *   --> bench/a.ts:12:3
 *   |
 * 12 |   readonly width: B;
 * `;
 * assertEquals(complaints(text), [
 *   "bench/a.ts:9: exported symbol is missing JSDoc documentation",
 * ]);
 * assertEquals(complaints(text, { exports: true }).length, 2);
 * ```
 */
export function complaints(
  text: string,
  { exports = false }: { readonly exports?: boolean } = {},
): readonly string[] {
  return parse(text)
    .filter(({ code, member }) => code === "missing-jsdoc" ? !member : exports)
    .map(({ place, message }) => `${place}: ${message}`);
}

function parse(text: string): readonly Complaint[] {
  const found = text.matchAll(
    /^error\[([\w-]+)\]: ([^\n]*)\n\s*--> (.+:\d+):\d+\n[ |]*\n *\d+ \| (.*)$/gm,
  );
  return Array.from(found, ([, code, message, place, line]) => ({
    code: code!,
    message: message!,
    place: place!,
    // A default export, such as a suite, is documented by its module.
    member: !/^export (?!default)/.test(line!),
  }));
}
