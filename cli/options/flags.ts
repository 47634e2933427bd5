/**
 * The options of every command.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { withDefault } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import {
  about,
  backend,
  choiceFlags,
  type Flags,
  kernelCache,
  lists,
  peers,
  python,
  runningFlags,
  targetFlags,
  timingFlags,
  toggle,
} from "./flag_groups.ts";
import { OUT } from "../commands/bench/clashes.ts";
import { ofProgram } from "../../session/home.ts";
import type {
  BenchOptions,
  BuildOptions,
  CheckOptions,
  DoctorOptions,
  ListOptions,
  PackOptions,
  Words,
} from "../../session/options.ts";
import { number, path } from "./readers.ts";
import { tuningFlags } from "./tune_flags.ts";

/** The options of `bench`. */
export function benchFlags(words: Words): Flags<BenchOptions> {
  return merge(
    choiceFlags(words),
    targetFlags(words),
    timingFlags(),
    tuningFlags(),
    runningFlags(),
    object("Peers", { peers: peers(), python: python() }),
    object("Results", {
      runs: withDefault(
        option(
          "--runs",
          number("COUNT", { least: 1 }),
          about("Repeats in fresh workers; their spread is stored."),
        ),
        1,
      ),
      out: withDefault(
        option("--out", path("DIR"), about("Folder of CSVs.")),
        ofProgram(OUT),
      ),
      resume: toggle("--resume", "Continue an unfinished run, or stop."),
      fresh: toggle("--fresh", "Discard an unfinished run."),
      once: toggle(
        "--once",
        "Run one case once, in this process, unflushed and untimed: for ncu and compute-sanitizer.",
      ),
      dryRun: toggle("--dry-run", "Say which cases would run."),
      json: toggle("--json", "Rows as lines of JSON instead of the table."),
    }),
  );
}

/** The options of `check`. */
export function checkFlags(words: Words): Flags<CheckOptions> {
  return merge(
    choiceFlags(words, "all"),
    targetFlags(words),
    tuningFlags(),
    runningFlags(),
    object("Results", { json: toggle("--json", "Rows as lines of JSON.") }),
  );
}

/** The options of `list`. */
export function listFlags(words: Words): Flags<ListOptions> {
  return merge(
    choiceFlags(words, "all"),
    object("Listing", {
      peers: peers("List"),
      cases: toggle("--cases", "Every case instead of suites and kernels."),
      json: toggle("--json", "The listing as JSON."),
    }),
  );
}

/** The options of `build`. */
export function buildFlags(words: Words): Flags<BuildOptions> {
  return merge(
    choiceFlags(words, "all"),
    object("Building", {
      arch: lists("--arch", {
        metavar: "ARCH",
        words: ["sm_90a"],
        what: "What to build for, such as sm_90a.",
      }),
      backend: backend(words),
      kernelCache: kernelCache(),
    }),
  );
}

/** The options of `doctor`. */
export function doctorFlags(): Flags<DoctorOptions> {
  return object({ json: toggle("--json", "The findings as JSON.") });
}

/** The options of `pack`. */
export function packFlags(words: Words): Flags<PackOptions> {
  return object({
    arch: lists("--arch", {
      metavar: "ARCH",
      words: ["sm_90a"],
      what: "Take kernels for it along, building those that are missing.",
    }),
    backend: backend(words),
    kernelCache: kernelCache(),
    out: withDefault(
      option("--out", path("FILE"), about("The archive.")),
      ofProgram("mnkbench.tar.xz"),
    ),
  });
}
