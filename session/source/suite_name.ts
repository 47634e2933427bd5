/**
 * Names the suites of kernel files.
 *
 * @module
 */

import { relative, resolve } from "node:path";
import { hashOf } from "../../bench/files/hash.ts";

/** Characters of a suite's name, which is the name of a file, at most. */
const MOST_NAME = 100;

/** Digits that tell paths apart of which other characters became the same `_`. */
const HASH_DIGITS = 6;

/**
 * Returns the name of the suite of the file at `path`: its path from this folder, as rows of
 * `a/mine.c` and of `b/mine.c` would replace each other under one name. So would those of `a b.c` and
 * `a_b.c`, and of paths with the same end: the name of a path that is cut, or has other characters than
 * letters, digits, `_`, `.` and `-`, ends in a hash. Separators become `_` without one, as recorded
 * rows have them.
 */
export function suiteName(path: string): string {
  const inner = relative(Deno.cwd(), resolve(path)).replace(
    /^(?:\.\.[/\\])+/,
    "",
  );
  const tail = inner.length > MOST_NAME || /[^\w./\\-]/.test(inner)
    ? `-${hashOf(inner.normalize()).slice(0, HASH_DIGITS)}`
    : "";
  const name = inner.replaceAll(/[^\w.-]/g, "_")
    .slice(tail.length - MOST_NAME).replace(/^\W/, "_");
  return name + tail;
}
