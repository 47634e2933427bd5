/**
 * The options of `plot`.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { argument, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { about, type Flags, lists, shown, toggle } from "./flag_groups.ts";
import { ofProgram } from "../../session/home.ts";
import {
  PLOT_THEMES,
  type PlotOptions,
  type Words,
} from "../../session/options.ts";
import { name, path } from "./readers.ts";

/** The options of `plot`. */
export function plotFlags(words: Words): Flags<PlotOptions> {
  return object("Pictures", {
    paths: multiple(
      argument(
        string({ metavar: "PATH" }),
        about("CSVs, folders or globs; `results` by default."),
      ),
    ),
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what: "Suites; all that there are by default.",
    }),
    baseline: optional(
      option(
        "--baseline",
        name("NAME", words.kernels),
        about("What speed-ups are relative to; the suite's own by default."),
      ),
    ),
    theme: withDefault(
      option(
        "--theme",
        shown(PLOT_THEMES),
        about("For light paper or dark; files of dark ones end in -dark."),
      ),
      "light",
    ),
    out: withDefault(
      option(
        "--out",
        path("DIR"),
        about("Folder of pictures, in one for each device and suite."),
      ),
      ofProgram("plots"),
    ),
    check: toggle(
      "--check",
      "Write nothing, say which pictures that are there are stale, exit 1 if any is.",
    ),
  });
}
