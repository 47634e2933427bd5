/**
 * Prints the suites that CI measures, by timer, as lines of `$GITHUB_ENV`: `GRAPH=...` and
 * `STREAM=...`, names joined by commas. A suite is timed as in a folder of recorded rows, since
 * rows of another timer cannot be compared. Others are left out, unless they are named or the
 * folder has no rows at all: then they are timed on a stream.
 *
 * `deno task recorded FOLDER [SUITES]`: `SUITES` are names joined by commas.
 *
 * @module
 */

import { readCsv } from "../bench/row/read_csv.ts";
import { byTiming, largest } from "../report/model/timing.ts";
import { suiteNames } from "../suites/mod.ts";

/** The timer of most rows of each suite in `folder`; none where there is no such folder. */
export function recordedTimers(folder: string | URL): Map<string, string> {
  const timers = new Map<string, string>();
  for (const name of csvFiles(folder)) {
    const path = typeof folder === "string"
      ? `${folder}/${name}`
      : new URL(name, folder);
    const rows = readCsv(Deno.readTextFileSync(path), name);
    for (const own of Map.groupBy(rows, ({ suite }) => suite).values()) {
      const [first] = largest(byTiming(own));
      timers.set(first!.suite, first!.timer);
    }
  }
  return timers;
}

function csvFiles(folder: string | URL): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name)
      .filter((name) => name.endsWith(".csv"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The names of the suites to time as graphs and on a stream: the recorded ones, or `wanted`. */
export function suitesByTimer(
  timers: ReadonlyMap<string, string>,
  wanted: readonly string[] = [],
): { readonly graph: readonly string[]; readonly stream: readonly string[] } {
  const names = suiteNames.filter((name) =>
    wanted.length > 0
      ? wanted.includes(name)
      : timers.size === 0 || timers.has(name)
  );
  const isGraph = (name: string) => timers.get(name) === "graph";
  return {
    graph: names.filter(isGraph),
    stream: names.filter((name) => !isGraph(name)),
  };
}

if (import.meta.main) {
  const [folder, names = ""] = Deno.args;
  if (folder === undefined) {
    console.error(
      "error: no folder of recorded rows: give one, as in `deno task recorded results/nvidia-h200`",
    );
    Deno.exit(2);
  }
  const { graph, stream } = suitesByTimer(
    recordedTimers(folder),
    names.split(",").filter(Boolean),
  );
  console.log(`GRAPH=${graph.join(",")}\nSTREAM=${stream.join(",")}`);
}
