/**
 * The options of everything that chooses configs.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { optional, withDefault } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import { UserError } from "../../bench/model/errors.ts";
import { DEFAULTS } from "../../bench/model/settings.ts";
import { MOST_LEVEL } from "../../bench/tune/levels.ts";
import { about, toggle } from "./basic.ts";
import { number, path, reader } from "./readers.ts";

/** Where configs are remembered. */
export const timingCache = () =>
  optional(
    option(
      "--timing-cache",
      path("FILE"),
      about(
        "File of cached configs (default: timings.json beside the kernels).",
      ),
    ),
  );

/** How configs are chosen. */
export function tuningFlags() {
  return object("Tuning", {
    level: withDefault(
      option(
        "--level",
        level(),
        about(
          "Search effort: 0 takes the first legal config, 5 times all.",
        ),
      ),
      DEFAULTS.level,
    ),
    timingCache: timingCache(),
    noTimingCache: toggle("--no-timing-cache", "Ignore cached configs."),
    errorOnCacheMiss: toggle(
      "--error-on-cache-miss",
      "Fail a case whose config is not in the timing cache.",
    ),
    workspace: optional(
      option(
        "--workspace",
        number("MIB"),
        about("Most workspace a config may take (default: all device memory)."),
      ),
    ),
  });
}

/** A level, as `--level` takes it. */
function level() {
  return reader({
    metavar: "0-5",
    placeholder: DEFAULTS.level,
    words: Array.from({ length: MOST_LEVEL + 1 }, (_, i) => `${i}`),
    read(input) {
      const value = /^\d$/.test(input) ? Number(input) : NaN;
      if (value <= MOST_LEVEL) return value;
      throw new UserError(
        `${input || "nothing"} is no level: give 0 to ${MOST_LEVEL}`,
      );
    },
  });
}
