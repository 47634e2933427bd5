/**
 * Writes text into HTML, and allows a page its own scripts and styles alone.
 *
 * @module
 */

import { createHash } from "node:crypto";

/** Returns the source expression by which a Content-Security-Policy allows `text`. */
export function digest(text: string): string {
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
