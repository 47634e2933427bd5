/**
 * `mnkbench compare`: measures two builds in turns, or one build against itself.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { multiple } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { argument } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { UserError } from "../../bench/model/errors.ts";
import { ofProgram, RESULTS } from "../../session/home.ts";
import { define } from "../command.ts";
import {
  about,
  choiceFlags,
  maybe,
  preset,
  runningFlags,
  targetFlags,
  timingFlags,
  toggle,
  type Words,
} from "../options/flags.ts";
import { judgingFlags } from "../options/judging.ts";
import { number, path } from "../options/readers.ts";

/** `mnkbench compare`. */
export const command = define({
  name: "compare",
  brief:
    "Measure what is slower or unclear between two sets of rows again, in turns.",
  examples: [
    "compare results/nvidia-h200 new/nvidia-h200",
    "compare --calibrate --suite matmul-bf16 --times 5",
  ],
  codes: {
    0: "nothing to fail on, or the calibration is written",
    1: "a row is slower when measured again, or the command was stopped",
    3: "a row is missing, incomparable or cannot be measured again",
    4: "a row is broken or less accurate",
  },
  flags,
  run: compare,
});

function flags(words: Words) {
  const count = number("COUNT", { least: 1 });
  return merge(
    object("Comparing", {
      paths: multiple(
        argument(
          string({ metavar: "PATH" }),
          about(
            "BASE and NEW: a CSV, folder or glob each. With --calibrate: a path for each run.",
          ),
        ),
      ),
      calibrate: toggle(
        "--calibrate",
        "Compare runs of one build, and record each row's minimal detectable effect.",
      ),
      times: maybe(
        "--times",
        count,
        "With --calibrate: number of runs to measure (default: 5).",
      ),
      runs: maybe(
        "--runs",
        count,
        "Repeats of each side (default: 5; with --calibrate: 1).",
      ),
      out: preset(
        "--out",
        path("DIR"),
        "With --calibrate: folder of the results.",
        ofProgram(RESULTS),
      ),
    }),
    judgingFlags(),
    choiceFlags(
      words,
      "with --calibrate those of bench, else those of the rows",
    ),
    targetFlags(words),
    timingFlags(),
    runningFlags(),
  );
}

async function compare(
  options: InferValue<ReturnType<typeof flags>>,
): Promise<number> {
  const { calibrate, paths } = options;
  if (calibrate) {
    return await (await import("./compare/calibrate.ts")).calibrate(options);
  }
  const [base, next] = paths;
  if (base === undefined || next === undefined || paths.length > 2) {
    throw new UserError(
      `Cannot compare ${paths.length} ${
        paths.length === 1 ? "path" : "paths"
      }: give the rows before and after, compare BASE NEW, or runs of one build with --calibrate`,
    );
  }
  const { confirm } = await import("./compare/confirm.ts");
  return await confirm({ ...options, base, next });
}
