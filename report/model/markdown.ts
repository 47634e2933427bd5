/**
 * Writes text of others, such as a compiler's message or a device's name, in Markdown.
 *
 * @module
 */

const ZERO_WIDTH_SPACE = "\u200b";

/**
 * Returns `text` as one line that shows as it is: without markup, pictures, HTML or entities,
 * and without telling people or issues, which hosts of code look for after they have made HTML
 * of it.
 *
 * @example
 * ```ts
 * import { markdownText } from "./markdown.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(markdownText("![x](http://y)\n*"), "!\\[x\\](http://y) \\*");
 * strictEqual(markdownText("@everyone, a@b"), "@\u200beveryone, a@b");
 * ```
 */
export function markdownText(text: string): string {
  // Within a word an underscore is no markup, and after the start a sign is no heading or quote.
  return text.replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*[\]<|~&$]|(?<!\w)_|_(?!\w)|^[#>]/g, "\\$&")
    .replaceAll(
      /(?<!\w)@(?=\w)|@(?=everyone|here)|#(?=\d)/g,
      `$&${ZERO_WIDTH_SPACE}`,
    );
}
