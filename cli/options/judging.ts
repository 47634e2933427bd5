/**
 * Options of comparisons: thresholds, verdicts and output format.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import type { ValueParser } from "@optique/core/valueparser";
import { UserError } from "../../bench/model/errors.ts";
import { type Verdict, VERDICTS } from "../../report/diff/verdict.ts";
import { maybe, preset, shown } from "./flags.ts";
import { number, path, reader } from "./readers.ts";

/** Formats of a comparison. */
const FORMATS = ["text", "md", "json", "junit"] as const;

/** The verdicts that a comparison fails on by default. */
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
  return object("Verdicts", {
    threshold: maybe(
      "--threshold",
      number("PERCENT", { whole: false }),
      "Smallest relative difference that counts (default: 3).",
    ),
    minUs: maybe(
      "--min-us",
      number("US", { whole: false }),
      "Smallest absolute difference that counts (default: 0.2).",
    ),
    config: maybe(
      "--config",
      path("FILE"),
      "JSON file of thresholds by suite; see docs/guide/verdicts.md.",
    ),
    failOn: preset("--fail-on", verdicts(), "Verdicts to fail on.", FAIL_ON),
    only: maybe(
      "--only",
      verdicts(),
      "Verdicts to list (default: all but same; a suite that NEW lacks is one line).",
    ),
    format: preset("--format", shown(FORMATS), "Output format.", "text"),
  });
}

/** The two sets of rows that are compared, and what counts of their differences. */
export type Comparing =
  & { readonly base: string; readonly next: string }
  & InferValue<ReturnType<typeof judgingFlags>>;
