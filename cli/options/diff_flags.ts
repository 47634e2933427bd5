/**
 * The options of commands that compare.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { argument, option } from "@optique/core/primitives";
import { string, type ValueParser } from "@optique/core/valueparser";
import { UserError } from "../../bench/model/errors.ts";
import { type Verdict, VERDICTS } from "../../report/diff/verdict.ts";
import {
  about,
  choiceFlags,
  type Flags,
  runningFlags,
  shown,
  targetFlags,
  timingFlags,
  toggle,
} from "./flag_groups.ts";
import { ofProgram } from "../../session/home.ts";
import {
  type CompareOptions,
  DIFF_FORMATS,
  type GateArguments,
  type Words,
} from "../../session/options.ts";
import { number, path, reader } from "./readers.ts";

/** What a comparison fails on unless told otherwise. */
export const FAIL_ON: readonly Verdict[] = [
  "slower",
  "missing",
  "broken",
  "less-accurate",
];

/** A list of verdicts, `slower,missing`; `none` and `all` too. */
function verdicts(): ValueParser<"sync", readonly Verdict[]> {
  const known: readonly string[] = VERDICTS;
  return reader<readonly Verdict[]>({
    metavar: "VERDICTS",
    words: [...VERDICTS, "all", "none"],
    placeholder: [],
    read(input) {
      if (input === "all") return VERDICTS;
      if (input === "none") return [];
      const asked = input.split(",").map((name) => name.trim());
      const other = asked.find((name) => !known.includes(name));
      if (other === undefined) return asked as Verdict[];
      throw new UserError(
        `${other || "nothing"} is not a verdict: give some of ${
          known.join(",")
        }, or all or none`,
      );
    },
  });
}

/** From which difference on a row counts as another, and what is done then. */
export function judgingFlags() {
  return {
    threshold: optional(
      option(
        "--threshold",
        number("PERCENT", { whole: false }),
        about("The least relative difference that counts; 3 by default."),
      ),
    ),
    minUs: optional(
      option(
        "--min-us",
        number("US", { whole: false }),
        about("The least absolute difference that counts; 0.2 by default."),
      ),
    ),
    config: optional(
      option(
        "--config",
        path("FILE"),
        about(
          "JSON with thresholds of suites, as docs/guide/verdicts.md has it.",
        ),
      ),
    ),
    failOn: withDefault(
      option("--fail-on", verdicts(), about("What to fail on.")),
      FAIL_ON,
    ),
    only: optional(
      option(
        "--only",
        verdicts(),
        about(
          "What to list; all but same, suites that NEW lacks as one line each.",
        ),
      ),
    ),
    format: withDefault(
      option("--format", shown(DIFF_FORMATS), about("How it is written.")),
      "text",
    ),
  };
}

/** The options of `diff`. */
export function diffFlags(): Flags<CompareOptions> {
  const source = (metavar: "BASE" | "NEW", what: string) =>
    argument(string({ metavar }), about(what));
  return object({
    base: source("BASE", "A CSV, a folder or a glob of the rows before."),
    next: source("NEW", "The same of the rows after."),
    ...judgingFlags(),
  });
}

/** The options of `gate`. */
export function gateFlags(words: Words): Flags<GateArguments> {
  const count = number("COUNT", { least: 1 });
  return merge(
    object("Gate", {
      calibrate: toggle(
        "--calibrate",
        "Keep what runs of one build differ by: those named, or new ones.",
      ),
      confirm: toggle(
        "--confirm",
        "Compare BASE and NEW, and measure slower and unclear rows again.",
      ),
      paths: multiple(
        argument(
          string({ metavar: "PATH" }),
          about("BASE and NEW; or a path for each run to calibrate from."),
        ),
      ),
      times: optional(
        option(
          "--times",
          count,
          about("Runs to calibrate from; 5 by default."),
        ),
      ),
      runs: optional(
        option(
          "--runs",
          count,
          about("Repeats of each: 5 to confirm, 1 to calibrate by default."),
        ),
      ),
      out: withDefault(
        option("--out", path("DIR"), about("Folder of CSVs.")),
        ofProgram("results"),
      ),
    }),
    object("Verdicts", judgingFlags()),
    choiceFlags(words),
    targetFlags(words),
    timingFlags(),
    runningFlags(),
  );
}
