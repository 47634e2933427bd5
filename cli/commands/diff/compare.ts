/**
 * Declares the options by which two sets of rows are judged, and the exit code of the verdicts.
 *
 * @module
 */

import { EXIT, type ExitCode, UserError } from "../../../bench/model/errors.ts";
import { type Diff, failsOn } from "../../../report/diff/diff.ts";
import { type Verdict, VERDICTS } from "../../../report/diff/verdict.ts";
import { object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import type { ValueParser } from "@optique/core/valueparser";
import { FAIL_ON } from "../../../session/library/compare_rows.ts";
import { maybe, preset, shown } from "../../options/flags.ts";
import { number, path, reader } from "../../options/readers.ts";

const CODES: Readonly<Record<Verdict, ExitCode>> = {
  broken: EXIT.broken,
  "less-accurate": EXIT.broken,
  missing: EXIT.nothing,
  incomparable: EXIT.nothing,
  slower: EXIT.failed,
  suspect: EXIT.failed,
  unclear: EXIT.failed,
  new: EXIT.failed,
  fixed: EXIT.failed,
  faster: EXIT.failed,
  same: EXIT.failed,
};

/**
 * Returns the exit code of `diff`: the highest of the verdicts to fail on. Incomparable rows
 * always fail: nothing is known of them.
 */
export function exitCodeOfDiff(
  { judged }: Diff,
  failOn: readonly Verdict[],
): ExitCode {
  let code: ExitCode = EXIT.ok;
  for (const one of judged) {
    if (one.verdict !== "incomparable" && !failsOn(one, failOn)) continue;
    for (const verdict of [one.verdict, one.also]) {
      if (verdict === undefined) continue;
      if (verdict !== "incomparable" && !failOn.includes(verdict)) continue;
      if (CODES[verdict] > code) code = CODES[verdict];
    }
  }
  return code;
}

/** Formats of a comparison. */
const FORMATS = ["text", "md", "json", "junit"] as const;

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
export function judgingFlags(threshold = "3", minUs = "0.2") {
  return object("Verdicts", {
    threshold: maybe(
      "--threshold",
      number("PERCENT", { whole: false }),
      `Smallest relative difference that counts (default: ${threshold}).`,
    ),
    minUs: maybe(
      "--min-us",
      number("US", { whole: false }),
      `Smallest absolute difference that counts (default: ${minUs}).`,
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
