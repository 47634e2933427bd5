/**
 * `mnkbench report`: recorded rows as one HTML page, or as tables within a text.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { optional, withDefault } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { replaceFile } from "../../bench/files/disk.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { ofProgram } from "../../session/home.ts";
import { define } from "../command.ts";
import { about, paths, toggle } from "../options/flags.ts";
import { number, path } from "../options/readers.ts";
import { tell } from "../terminal/output.ts";

/** `mnkbench report`. */
export const command = define({
  name: "report",
  brief: "Make one HTML page of recorded rows.",
  examples: [
    "report results/nvidia-h200 --out report.html",
    "report new --against results/nvidia-h200 --threshold 5",
  ],
  codes: {
    0: "the page or the text is written, or up to date",
    1: "with --check: a table is stale",
    3: "no row is there",
  },
  flags,
  run: report,
});

function flags() {
  return object("Reporting", {
    paths: paths("PATH", "CSVs, folders or globs (default: results)."),
    against: optional(
      option(
        "--against",
        string({ metavar: "PATH" }),
        about(
          "Older run to compare with; PATH is the newer and has the verdicts.",
        ),
      ),
    ),
    threshold: optional(
      option(
        "--threshold",
        number("PERCENT", { whole: false }),
        about("With --against: smallest difference that counts (default: 3)."),
      ),
    ),
    out: withDefault(
      option("--out", path("FILE"), about("The page.")),
      ofProgram("report.html"),
    ),
    samples: toggle(
      "--samples",
      "Include every sample in the order it was taken, not 16 quantiles a row.",
    ),
    splice: optional(
      option(
        "--splice",
        path("FILE"),
        about("Remake the tables between the markers of a text, and no page."),
      ),
    ),
    check: toggle(
      "--check",
      "With --splice: only list the tables that would change.",
    ),
  });
}

async function report(
  options: InferValue<ReturnType<typeof flags>>,
): Promise<number> {
  const { paths, against, out, splice, check } = options;
  if (splice !== undefined) {
    if (paths.length > 0 || against !== undefined) {
      throw new UserError(
        "--splice takes no other input: the rows are named in the text, at its markers",
      );
    }
    return await (await import("./report/splice.ts")).splice(splice, { check });
  }
  if (check) {
    throw new UserError(
      "--check is for --splice: name a text, or leave it out",
    );
  }
  const { inputOf } = await import("./report/input.ts");
  const { formatReport } = await import("../../report/page/report.ts");
  const html = formatReport(await inputOf(options));
  replaceFile(out, html);
  const megabytes = (new TextEncoder().encode(html).length / 1e6).toFixed(2);
  tell(`${out}: ${megabytes} MB, needs nothing else to be read`);
  return EXIT.ok;
}
