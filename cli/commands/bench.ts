/**
 * `mnkbench bench`: sweeps suites.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { ofProgram, RESULTS } from "../../session/home.ts";
import { define } from "../command.ts";
import {
  choiceFlags,
  peers,
  preset,
  python,
  runningFlags,
  targetFlags,
  timingFlags,
  toggle,
  tuningFlags,
  type Words,
} from "../options/flags.ts";
import { number, path } from "../options/readers.ts";

/** `mnkbench bench`. */
export const command = define({
  name: "bench",
  brief: "Sweep suites: check, time, record and compare kernels.",
  examples: [
    "bench --suite matmul-bf16 --m 16,32 --k 4096:65536:*2",
    "bench --suite ./my_suite.ts --kernel mine --runs 3 --out new",
  ],
  codes: {
    0: "all rows are ok or unsupported",
    1: "a row failed, or the run was stopped",
    3: "no usable device, no case, or nothing to resume",
  },
  flags,
  run: async (options) =>
    await (await import("./bench/measure.ts")).bench(options),
});

function flags(words: Words) {
  return merge(
    choiceFlags(words),
    targetFlags(words, true),
    timingFlags(),
    tuningFlags(),
    runningFlags(),
    object("Peers", { peers: peers(), python: python() }),
    object("Results", {
      runs: preset(
        "--runs",
        number("COUNT", { least: 1 }),
        "Repeat in this many fresh workers and record their spread.",
        1,
      ),
      out: preset("--out", path("DIR"), "Folder of CSVs.", ofProgram(RESULTS)),
      resume: toggle(
        "--resume",
        "Continue an unfinished run, and stop if there is none.",
      ),
      fresh: toggle("--fresh", "Discard an unfinished run."),
      once: toggle(
        "--once",
        "Run one case once, in this process, unflushed and untimed: for ncu and compute-sanitizer.",
      ),
      dryRun: toggle("--dry-run", "List the cases that would run."),
      json: toggle("--json", "Print rows as lines of JSON."),
    }),
  );
}
