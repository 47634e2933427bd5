/**
 * The options of `report`.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { argument, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { about, type Flags, toggle } from "./flag_groups.ts";
import { ofProgram } from "../../session/home.ts";
import type { ReportOptions } from "../../session/options.ts";
import { number, path } from "./readers.ts";

/** The options of `report`. */
export function reportFlags(): Flags<ReportOptions> {
  return object("Reporting", {
    paths: multiple(
      argument(
        string({ metavar: "PATH" }),
        about("CSVs, folders or globs; `results` by default."),
      ),
    ),
    against: optional(
      option(
        "--against",
        string({ metavar: "PATH" }),
        about(
          "The older run, BASE of `diff`: PATH is the newer, and has its verdicts.",
        ),
      ),
    ),
    threshold: optional(
      option(
        "--threshold",
        number("PERCENT", { whole: false }),
        about("With --against: the least change that counts; 3 by default."),
      ),
    ),
    out: withDefault(
      option("--out", path("FILE"), about("The page.")),
      ofProgram("report.html"),
    ),
    samples: toggle(
      "--samples",
      "Every sample in the order it was taken, not 16 quantiles a row.",
    ),
    splice: optional(
      option(
        "--splice",
        path("FILE"),
        about(
          "No page: make the tables between the markers of a text again.",
        ),
      ),
    ),
    check: toggle("--check", "With --splice: only say what would change."),
  });
}
