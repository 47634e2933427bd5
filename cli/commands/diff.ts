/**
 * `mnkbench diff`: compares two sets of recorded rows.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { argument } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { define } from "../command.ts";
import { about } from "../options/flags.ts";
import { type Comparing, judgingFlags } from "../options/judging.ts";
import { say, tell } from "../terminal/output.ts";

/** `mnkbench diff`. */
export const command = define({
  name: "diff",
  brief: "Compare two sets of rows: slower, broken, missing, new.",
  examples: [
    "diff results/nvidia-h200 new/nvidia-h200",
    "diff base.csv new.csv --threshold 5 --fail-on slower,broken --format md",
  ],
  codes: {
    0: "nothing to fail on",
    1: "a row is slower",
    3: "a row is missing or incomparable, or there is no row",
    4: "a row is broken or less accurate",
  },
  flags,
  run: diff,
});

function flags() {
  const source = (metavar: "BASE" | "NEW", what: string) =>
    argument(string({ metavar }), about(what));
  return merge(
    object({
      base: source("BASE", "CSV, folder or glob of the rows before."),
      next: source("NEW", "CSV, folder or glob of the rows after."),
    }),
    judgingFlags(),
  );
}

async function diff(options: Comparing): Promise<number> {
  const { compare, exitCodeOfDiff } = await import("./diff/compare.ts");
  const { nextStep, show } = await import("./diff/show.ts");
  const found = await compare(options);
  say(show(found, options).join("\n"));
  const next = options.format === "text" && nextStep(found, options);
  if (next) tell(next);
  return exitCodeOfDiff(found, options.failOn);
}
