/**
 * Writes text into HTML, and allows a page its own scripts and styles alone.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { FileKind } from "../../bench/files/replace.ts";
import { type ThemeName, THEMES } from "../chart/theme.ts";

const GENERATOR = '<meta name="generator" content="mnkbench">';

/** Pages that begin with {@linkcode headOf}. */
export const PAGE: FileKind = {
  head: new RegExp(GENERATOR),
  name: "page made by mnkbench",
};

/** The colours of charts as variables: `--paper`, `--ink` and so on. */
function variables(theme: ThemeName): string {
  const { name: _, ...colors } = THEMES[theme];
  return Object.entries(colors).map(([name, value]) => `--${name}: ${value};`)
    .join(" ");
}

const COLORS = `:root { color-scheme: light dark; ${variables("light")} }
@media screen and (prefers-color-scheme: dark) { :root { ${
  variables("dark")
} } }
`;

/**
 * The start of a page up to its body, with the one style and the one script that it may have. The
 * style may use the colours of charts as variables, for either theme.
 */
export function headOf(
  { title, style: own, script }: {
    readonly title: string;
    readonly style: string;
    readonly script: string;
  },
): string {
  const style = `${COLORS}${own}`;
  const policy = [
    "default-src 'none'",
    "img-src data:",
    `style-src '${digest(style)}'`,
    `script-src '${digest(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${GENERATOR}
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
`;
}

function digest(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns `text` for the content of an element, or for an attribute in quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
