/**
 * The options of `table`, `import` and `baseline`.
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
  type BaselineOptions,
  type ImportOptions,
  TABLE_FORMATS,
  type TableOptions,
  type Words,
} from "../../session/options.ts";
import { name, number, path } from "./readers.ts";

const paths = (metavar: "CSV" | "PATH", what: string) =>
  multiple(argument(string({ metavar }), about(what)));

/** The options of `table`. */
export function tableFlags(words: Words): Flags<TableOptions> {
  const ofKernels = (flag: "--against" | "--kernel", what: string) =>
    lists(flag, { metavar: "NAME", words: words.kernels, what });
  return object("Tables", {
    paths: paths("PATH", "CSVs, folders or globs; `results` by default."),
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what: "Suites; all that there are by default.",
    }),
    kernels: ofKernels(
      "--kernel",
      "Kernels, as decompose-k or, of a published run, decomposeK@decompose-k-v3; all by default.",
    ),
    baseline: optional(
      option(
        "--baseline",
        name("NAME", words.kernels),
        about("What speed-ups are relative to; the suite's own by default."),
      ),
    ),
    against: ofKernels(
      "--against",
      "Kernels that all others are counted against, each and the fastest of them; the baseline by default.",
    ),
    published: toggle(
      "--published",
      "Put figures of results/published at the same shapes beside, marked.",
    ),
    publishedRuns: lists("--run", {
      metavar: "NAME",
      words: [],
      what: "Of published rows only those of these runs, as decompose-k-v3.",
    }),
    wins: toggle("--wins", "Only wins, ties and losses."),
    format: withDefault(
      option("--format", shown(TABLE_FORMATS), about("What to print.")),
      "text",
    ),
    wide: toggle("--wide", "The columns of the decompose-k measurements."),
    out: optional(
      option(
        "--out",
        path("DIR"),
        about("With --wide: a folder for one file a suite."),
      ),
    ),
  });
}

/** The options of `import`. */
export function importFlags(): Flags<ImportOptions> {
  return object("Importing", {
    paths: paths("CSV", "CSVs of decompose-k or AITER, folders or globs."),
    run: optional(
      option(
        "--run",
        string({ metavar: "NAME" }),
        about("What the run is called; of a file with several, which to take."),
      ),
    ),
    out: withDefault(
      option("--out", path("DIR"), about("Folder of CSVs.")),
      ofProgram("results/published"),
    ),
  });
}

/** The options of `baseline`. */
export function baselineFlags(): Flags<BaselineOptions> {
  return object("Recording", {
    from: argument(
      string({ metavar: "DIR" }),
      about("Folder of new results, as `bench --out` made it."),
    ),
    into: withDefault(
      option("--into", path("DIR"), about("The baseline.")),
      ofProgram("results"),
    ),
    threshold: optional(
      option(
        "--threshold",
        number("PERCENT", { whole: false }),
        about("The least difference that is shown, as of diff."),
      ),
    ),
    dryRun: toggle("--dry-run", "Show what would be replaced, and stop."),
  });
}
