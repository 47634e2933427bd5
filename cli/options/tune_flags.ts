/**
 * The options of everything that chooses configs.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import { DEFAULTS } from "../../bench/model/settings.ts";
import { UserError } from "../../bench/model/errors.ts";
import { MOST_LEVEL } from "../../bench/tune/levels.ts";
import {
  about,
  choiceFlags,
  type Flags,
  kernelCache,
  runningFlags,
  targetFlags,
  timingFlags,
  toggle,
} from "./flag_groups.ts";
import { parseSizes } from "./lists.ts";
import type { Words } from "../../session/options.ts";
import type {
  TimingsOptions,
  TuneOptions,
} from "../../session/tune_options.ts";
import { name, number, path, reader } from "./readers.ts";

const timingCache = () =>
  optional(
    option(
      "--timing-cache",
      path("FILE"),
      about("File of configs found before, beside the kernels by default."),
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
          "How hard a config is searched for: 0 takes the first legal one, 5 tries all.",
        ),
      ),
      DEFAULTS.level,
    ),
    timingCache: timingCache(),
    noTimingCache: toggle("--no-timing-cache", "Search whatever was found."),
    errorOnCacheMiss: toggle(
      "--error-on-cache-miss",
      "Fail a case whose config the timing cache lacks.",
    ),
    workspace: optional(
      option(
        "--workspace",
        number("MIB"),
        about("Workspace that a config may take; all there is by default."),
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

/** An axis and the bounds of its ranges, as in `m=1,8,32`. */
function ranges() {
  return reader({
    metavar: "AXIS=SIZES",
    placeholder: { axis: "m", bounds: [1] as readonly number[] },
    read(input) {
      const [, axis, sizes] = /^(m|n|k)=(.+)$/.exec(input) ?? [];
      if (axis === undefined) {
        throw new UserError(
          `${input} names no ranges: give an axis and their upper ends, as in m=1,8,32,128`,
        );
      }
      const bounds = parseSizes(sizes!).toSorted((a, b) => a - b);
      return { axis, bounds };
    },
  });
}

/** The options of `tune`. */
export function tuneFlags(words: Words): Flags<TuneOptions> {
  return merge(
    choiceFlags(words),
    targetFlags(words),
    timingFlags(),
    tuningFlags(),
    runningFlags(),
    object("Results", {
      dispatch: optional(
        option(
          "--dispatch",
          ranges(),
          about("Make a table of ranges instead, as in m=1,8,32,128."),
        ),
      ),
      out: optional(
        option("--out", path("FILE"), about("The dispatch table as JSON.")),
      ),
      header: optional(
        option("--header", path("FILE"), about("The same as a C header.")),
      ),
      skips: toggle("--skips", "List each config that was left out, and why."),
      json: toggle("--json", "Lines of JSON instead of the table."),
    }),
  );
}

/** The options of `timings`. */
export function timingsFlags(): Flags<TimingsOptions> {
  return object({
    timingCache: timingCache(),
    kernelCache: kernelCache(),
    merge: multiple(
      option(
        "--merge",
        path("FILE"),
        about("Take over what another cache has; what is there stays."),
      ),
    ),
    forget: optional(
      option(
        "--forget",
        name("WORDS", []),
        about("Remove entries that have all of these words, or this name."),
      ),
    ),
    set: optional(
      option(
        "--set",
        name("ENTRY:CONFIG", []),
        about("Change a config, as in 1f00ba5e1f00ba5e:BM=16 SPLIT=64."),
      ),
    ),
    only: optional(
      option(
        "--only",
        name("WORDS", []),
        about("Show only entries that have all of these words."),
      ),
    ),
    json: toggle("--json", "The entries as lines of JSON."),
  });
}
