/**
 * `mnkbench table --weights`: prints the speed-up of a whole program (Amdahl's law).
 *
 * @module
 */

import { EXIT, UserError } from "../../../bench/model/errors.ts";
import {
  amdahl,
  limitNote,
  wholeSheet,
  wholeSpeedups,
} from "../../../report/table/amdahl.ts";
import { formatMarkdown, formatText } from "../../../report/table/sheet.ts";
import { type Pivot, pivots } from "../../../report/model/pivot.ts";
import { suites as builtIn } from "../../../suites/mod.ts";
import { tableRows } from "./tables.ts";
import { say, screenOf } from "../../terminal/output.ts";

/** The share of GEMMs, and the source of their speed-ups. */
export interface Weighting {
  readonly paths: readonly string[];
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  readonly baseline: string | undefined;
  readonly gemmFraction: number;
  readonly speedup: readonly number[] | undefined;
  readonly format: "text" | "md" | "json";
}

/** Prints end-to-end speed-ups. @returns The exit code. */
export async function weights(options: Weighting): Promise<number> {
  const { speedup, paths, gemmFraction, format } = options;
  if (speedup && paths.length > 0) {
    throw new UserError(
      "Cannot take speed-ups from both --speedup and files: leave out one of them",
    );
  }
  if (speedup) {
    for (const s of speedup) {
      const end_to_end = amdahl(gemmFraction, s);
      say(
        format === "json"
          ? JSON.stringify({ speedup: s, end_to_end })
          : `${s}x in GEMMs: ${end_to_end.toFixed(4)}x the whole`,
      );
    }
    if (format !== "json") say(limitNote(gemmFraction));
    return EXIT.ok;
  }
  const { baseline, suites, kernels } = options;
  const rows = await tableRows({
    paths,
    suites,
    kernels: [],
    baseline,
    // Not a filter: the baseline is needed too.
    against: kernels,
    published: false,
    publishedRuns: [],
  });
  const tables = pivots(rows, {
    baselines: (suite) =>
      baseline === undefined
        ? builtIn.find(({ name }) => name === suite)?.baselines ?? []
        : [baseline],
  }).map((table) => only(table, kernels))
    .filter((table) => wholeSpeedups(table, gemmFraction).length > 0);
  if (tables.length === 0) {
    throw new UserError(
      "No row has a baseline beside it: name a kernel with --baseline",
      EXIT.nothing,
    );
  }
  for (const [i, table] of tables.entries()) {
    if (format === "json") {
      for (const one of wholeSpeedups(table, gemmFraction)) {
        say(JSON.stringify(one));
      }
      continue;
    }
    if (i > 0) say("");
    const sheet = wholeSheet(table, gemmFraction);
    const lines = format === "md"
      ? formatMarkdown(sheet)
      : formatText(sheet, screenOf(Deno.stdout));
    for (const line of lines) say(line);
  }
  return EXIT.ok;
}

/** Returns `table` with the contenders named `kernels`, or all, and its baseline. */
function only(table: Pivot, kernels: readonly string[]): Pivot {
  if (kernels.length === 0) return table;
  const contenders = table.contenders.filter(({ name, kernel }) =>
    kernels.includes(kernel) || kernels.includes(name) ||
    name === table.baseline
  );
  return { ...table, contenders };
}
