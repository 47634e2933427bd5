/**
 * The options of `amdahl`.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { multiple, optional } from "@optique/core/modifiers";
import { argument, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { UserError } from "../../bench/model/errors.ts";
import { about, type Flags, lists, toggle } from "./flag_groups.ts";
import type { Words } from "../../session/options.ts";
import { name, reader } from "./readers.ts";
import type { AmdahlOptions } from "../../session/tune_options.ts";

/** A share, from 0 to 1. */
function share() {
  return reader({
    metavar: "SHARE",
    placeholder: 0.85,
    read(input) {
      const value = input.trim() === "" ? NaN : Number(input);
      if (value >= 0 && value <= 1) return value;
      throw new UserError(
        `${input || "nothing"} is no share: give 0 to 1, as in 0.85`,
      );
    },
  });
}

/** Speed-ups, as in 1.05,1.3. */
function speedups() {
  return reader({
    metavar: "FACTORS",
    placeholder: [1] as readonly number[],
    read: (input) =>
      input.split(",").map((part) => {
        const value = part.trim() === "" ? NaN : Number(part);
        if (value > 0 && Number.isFinite(value)) return value;
        throw new UserError(
          `${
            part || "nothing"
          } is no speed-up: give factors above 0, as in 1.05,1.3`,
        );
      }),
  });
}

/** The options of `amdahl`. */
export function amdahlFlags(words: Words): Flags<AmdahlOptions> {
  return object("End to end", {
    paths: multiple(
      argument(
        string({ metavar: "PATH" }),
        about("CSVs, folders or globs; `results` by default."),
      ),
    ),
    gemmFraction: option(
      "--gemm-fraction",
      share(),
      about("Share of the time that is in products, such as 0.85."),
    ),
    speedup: optional(
      option("--speedup", speedups(), about("Speed-ups instead of rows.")),
    ),
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what: "Suites; all that there are by default.",
    }),
    kernels: lists("--kernel", {
      metavar: "NAME",
      words: words.kernels,
      what: "Kernels; all by default.",
    }),
    baseline: optional(
      option(
        "--baseline",
        name("NAME", words.kernels),
        about("What speed-ups are relative to; the suite's own by default."),
      ),
    ),
    json: toggle("--json", "Lines of JSON instead of the table."),
  });
}
