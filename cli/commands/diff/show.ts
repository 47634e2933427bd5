/**
 * A comparison as text, Markdown, JSON or JUnit's XML.
 *
 * @module
 */

import type { Diff } from "../../../report/diff/diff.ts";
import { diffJson } from "../../../report/diff/diff_json.ts";
import { diffJunit } from "../../../report/diff/diff_junit.ts";
import { diffMarkdown } from "../../../report/diff/diff_md.ts";
import { diffText } from "../../../report/diff/diff_text.ts";
import { VERDICTS } from "../../../report/diff/verdict.ts";
import type { Comparing } from "../../options/judging.ts";
import { screenOf } from "../../terminal/output.ts";

/** Columns of lines where no terminal is wider: a row with its times has room in them. */
const WIDTH = 120;

/** `found` in the format of `options`. */
export function show(
  found: Diff,
  { format, only, failOn }: Pick<Comparing, "format" | "only" | "failOn">,
): readonly string[] {
  const usual = format === "junit"
    ? VERDICTS
    : VERDICTS.filter((verdict) => verdict !== "same");
  // Who asks for verdicts wants the rows that have them.
  const options = { only: only ?? usual, failOn, fold: only === undefined };
  switch (format) {
    case "text": {
      const { color, width } = screenOf(Deno.stdout);
      return diffText(found, {
        ...options,
        color,
        width: Number.isFinite(width) ? Math.max(WIDTH, width) : WIDTH,
      });
    }
    case "md":
      return diffMarkdown(found, options);
    case "json":
      return [diffJson(found, options)];
    case "junit":
      return diffJunit(found, options);
  }
}
