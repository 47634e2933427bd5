/**
 * `mnkbench check`: whether kernels are right.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { define } from "../command.ts";
import {
  choiceFlags,
  runningFlags,
  targetFlags,
  toggle,
  tuningFlags,
  type Words,
} from "../options/flags.ts";

/** `mnkbench check`. */
export const command = define({
  name: "check",
  brief:
    "Check kernels for correctness, at edge-case shapes and the suites' own.",
  examples: [
    "check --suite matmul-bf16 --kernel decompose-k",
    "check --suite ./my_suite.ts --m 19 --n 64 --k 128",
  ],
  codes: {
    0: "all cases are right or unsupported",
    1: "a case failed, or the check was stopped",
    3: "no usable device, or no case",
  },
  flags,
  run: async (options) =>
    await (await import("./check/checks.ts")).check(options),
});

function flags(words: Words) {
  return merge(
    choiceFlags(words, "all"),
    targetFlags(words, true),
    tuningFlags(),
    runningFlags(),
    object("Results", {
      json: toggle("--json", "Print rows as lines of JSON."),
    }),
  );
}
