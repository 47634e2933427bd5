/**
 * `mnkbench amdahl`: what faster kernels make of the whole.
 *
 * @module
 */

import { amdahl as whole } from "../../../bench/tune/amdahl.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import {
  limitNote,
  wholeSheet,
  wholeSpeedups,
} from "../../../report/model/amdahl.ts";
import { formatText } from "../../../report/table/layout.ts";
import { type Pivot, pivots } from "../../../report/model/pivot.ts";
import { suites as builtIn } from "../../../suites/mod.ts";
import { tableRows } from "./rows.ts";
import { say, screenOf } from "../../terminal/output.ts";
import type { AmdahlOptions } from "../../../session/tune_options.ts";

/** Prints end-to-end speed-ups. @returns The exit code. */
export async function amdahl(options: AmdahlOptions): Promise<number> {
  const { speedup, paths, gemmFraction } = options;
  if (speedup && paths.length > 0) {
    throw new UserError(
      "Cannot take speed-ups from both --speedup and files: leave out one of them",
    );
  }
  if (speedup) {
    for (const s of speedup) {
      const end_to_end = whole(gemmFraction, s);
      say(
        options.json
          ? JSON.stringify({ speedup: s, end_to_end })
          : `${s}x in products: ${end_to_end.toFixed(4)}x the whole`,
      );
    }
    if (!options.json) say(limitNote(gemmFraction));
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
    wins: false,
    format: "text",
    wide: false,
    out: undefined,
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
    if (options.json) {
      for (const one of wholeSpeedups(table, gemmFraction)) {
        say(JSON.stringify(one));
      }
      continue;
    }
    if (i > 0) say("");
    const sheet = wholeSheet(table, gemmFraction);
    for (const line of formatText(sheet, screenOf(Deno.stdout))) say(line);
  }
  return EXIT.ok;
}

/** `table` with the contenders named `kernels`, all where there is no name, and its baseline. */
function only(table: Pivot, kernels: readonly string[]): Pivot {
  if (kernels.length === 0) return table;
  const contenders = table.contenders.filter(({ name, kernel }) =>
    kernels.includes(kernel) || kernels.includes(name) ||
    name === table.baseline
  );
  return { ...table, contenders };
}
