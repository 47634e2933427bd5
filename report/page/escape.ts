/**
 * Data as text of an HTML document.
 *
 * @module
 */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * `text` for the content of an element, or for an attribute in quotes.
 *
 * @example
 * ```ts
 * import { escapeHtml } from "./escape.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(escapeHtml(`a < "b" & c`), "a &lt; &quot;b&quot; &amp; c");
 * ```
 */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/**
 * `value` as JSON for the content of a script element: nothing in it can end the element,
 * start a comment or be read as another line by older scripts.
 */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<\u2028\u2029]/g,
    (character) =>
      `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
