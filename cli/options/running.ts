/**
 * The options that say how cases are run and timed.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { withDefault } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import { FILLS } from "../../bench/model/inputs.ts";
import { DEFAULTS } from "../../bench/model/settings.ts";
import { about, kernelCache, shown, toggle } from "./basic.ts";
import { number, timer } from "./readers.ts";

/** How cases are run. */
export function runningFlags() {
  return object("Running", {
    seed: withDefault(
      option("--seed", number("INTEGER"), about("Seed of the inputs.")),
      DEFAULTS.seed,
    ),
    fill: withDefault(
      option("--fill", shown(FILLS), about("Distribution of the inputs.")),
      DEFAULTS.fill,
    ),
    timeout: withDefault(
      option(
        "--timeout",
        number("SECONDS", { least: 0.1, whole: false }),
        about(
          "Kill a case after this many seconds without progress. Compilers have 120 s.",
        ),
      ),
      60,
    ),
    prebuilt: toggle(
      "--prebuilt",
      "Use kernels that are built already, and compile none.",
    ),
    kernelCache: kernelCache(),
  });
}

/** How cases are timed. */
export function timingFlags() {
  const milliseconds = number("MS", { whole: false });
  return object("Timing", {
    warmup: withDefault(
      option("--warmup", milliseconds, about("Warm-up time of a case.")),
      DEFAULTS.warmup,
    ),
    rep: withDefault(
      option("--rep", milliseconds, about("Sampling time of a case.")),
      DEFAULTS.rep,
    ),
    search: withDefault(
      option(
        "--search",
        milliseconds,
        about("Time to measure each config in a search."),
      ),
      DEFAULTS.search,
    ),
    timer: withDefault(
      option(
        "--timer",
        timer(),
        about("Timing method: do_bench, graph or batch:N."),
      ),
      DEFAULTS.timer,
    ),
    cache: withDefault(
      option(
        "--cache",
        shown(["cold", "warm"]),
        about("Whether the last-level cache is flushed before each call."),
      ),
      DEFAULTS.cache,
    ),
    flush: withDefault(
      option(
        "--flush",
        shown(["zero", "read"]),
        about("Whether the flush writes zeros or only reads."),
      ),
      DEFAULTS.flush,
    ),
  });
}
