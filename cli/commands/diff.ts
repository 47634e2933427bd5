/**
 * `mnkbench diff`: what became of each case between two sets of rows.
 *
 * @module
 */

import type { Diff } from "../../report/diff/diff.ts";
import { diffJson } from "../../report/diff/diff_json.ts";
import { diffJunit } from "../../report/diff/diff_junit.ts";
import { diffMarkdown } from "../../report/diff/diff_md.ts";
import { diffText } from "../../report/diff/diff_text.ts";
import { VERDICTS } from "../../report/diff/verdict.ts";
import { compare, exitCodeOfDiff } from "./diff/compare.ts";
import { confirmLine } from "../terminal/confirm_command.ts";
import type { CompareOptions } from "../../session/options.ts";
import { say, screenOf, tell } from "../terminal/output.ts";

/** Columns of lines where no terminal is wider: a row with its times has room in them. */
const WIDTH = 120;

/** Compares, and prints. @returns The exit code. */
export async function diff(options: CompareOptions): Promise<number> {
  const found = await compare(options);
  say(show(found, options).join("\n"));
  const next = options.format === "text" && confirmLine(found, options);
  if (next) tell(next);
  return exitCodeOfDiff(found, options.failOn);
}

/** `found` in the format of `options`. */
export function show(
  found: Diff,
  { format, only, failOn }: CompareOptions,
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
