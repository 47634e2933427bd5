/**
 * Reduces a source to what a compiler reads of it: two texts that differ in comments and blanks
 * alone become the same.
 *
 * @module
 */

/**
 * The tokens that a comment may begin in, or seem to. Identifiers and numbers are among them
 * because of `u8'a'` and `1'000`.
 */
const TOKENS = new RegExp(
  [
    /\/\/(?:\\\r?\n|[^\n])*/,
    /\/\*[^]*?(?:\*\/|$)/,
    /(?:u8|[uUL])?R"(?<mark>[^()\\\s]{0,16})\([^]*?\)\k<mark>"/,
    /[A-Za-z_]\w*/,
    /\.?\d(?:[eEpP][+-]|'?[\w.])*/,
    /"(?:\\[^]|[^"\\\n])*"?/,
    /'(?:\\[^]|[^'\\\n])*'?/,
  ].map(({ source }) => source).join("|"),
  "g",
);

/**
 * Returns the text of a source without comments, blank lines and repeated blanks.
 *
 * @param file Its name: `.py` is Python, of which only comments on lines of their own are left
 * out; everything else is of C's family.
 *
 * @example
 * ```ts
 * import { codeOf } from "./code_text.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(codeOf("int a;  // not b\n\n", "k.cu"), "int a;");
 * strictEqual(codeOf('const char *s = "//";', "k.c"), 'const char *s = "//";');
 * ```
 */
export function codeOf(text: string, file: string): string {
  const bare = file.endsWith(".py")
    ? text.replaceAll(/^[ \t]*#.*$/gm, "")
    : text.replaceAll(
      TOKENS,
      (token) => /^\/[/*]/.test(token) ? " " : token,
    );
  // Indentation is syntax in Python.
  const lines = bare.split(/\r?\n/).map((line) =>
    file.endsWith(".py")
      ? line.trimEnd()
      : line.replaceAll(/[^\S\n]+/g, " ").trim()
  );
  return lines.filter((line) => line !== "").join("\n");
}
