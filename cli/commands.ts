/**
 * The commands: name, one line, options, and the file that does the work, which is
 * loaded only when it is needed.
 *
 * @module
 */

import { or } from "@optique/core/constructs";
import { text } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import {
  benchFlags,
  buildFlags,
  checkFlags,
  doctorFlags,
  listFlags,
  packFlags,
} from "./options/flags.ts";
import { type Flags } from "./options/flag_groups.ts";
import { diffFlags, gateFlags } from "./options/diff_flags.ts";
import { reportFlags } from "./options/report_flags.ts";
import type { Words } from "../session/options.ts";
import { timingsFlags, tuneFlags } from "./options/tune_flags.ts";
import { plotFlags } from "./options/plot_flags.ts";
import { amdahlFlags } from "./options/amdahl_flags.ts";
import {
  baselineFlags,
  importFlags,
  tableFlags,
} from "./options/table_flags.ts";

/** A command with its options, ready to run. @returns The exit code. */
export type Run = () => Promise<number>;

/** The parser of a command line, by command. */
export type Commands = Readonly<Record<string, Flags<Run>>>;

function define<T>(
  name: string,
  brief: string,
  { flags, run }: {
    flags: Flags<T>;
    run: (options: T) => Promise<number>;
  },
): readonly [string, Flags<Run>] {
  const about = { brief: [text(brief)], description: [text(brief)] };
  return [name, command(name, map(flags, (o) => () => run(o)), about)];
}

/** Every command, in the order of the help. */
export function commands(words: Words): Commands {
  return Object.fromEntries([
    define("bench", "Sweep suites: check, time, keep and compare.", {
      flags: benchFlags(words),
      run: async (o) => (await import("./commands/bench/sweep.ts")).bench(o),
    }),
    define("tune", "Find each kernel's best config, and remember it.", {
      flags: tuneFlags(words),
      run: async (o) => (await import("./commands/tune/search.ts")).tune(o),
    }),
    define("timings", "Show, merge, edit or forget what tuning remembers.", {
      flags: timingsFlags(),
      run: async (o) =>
        (await import("./commands/tune/remembered.ts")).timings(o),
    }),
    define("check", "Check kernels only, at odd points and the suite's own.", {
      flags: checkFlags(words),
      run: async (o) => (await import("./commands/check/checks.ts")).check(o),
    }),
    define("list", "List suites, kernels and cases.", {
      flags: listFlags(words),
      run: async (o) => (await import("./commands/list.ts")).list(o),
    }),
    define("build", "Compile kernels, on a machine without their device.", {
      flags: buildFlags(words),
      run: async (o) => (await import("./commands/build/kernels.ts")).build(o),
    }),
    define("doctor", "Say what works here and what would mend the rest.", {
      flags: doctorFlags(),
      run: async (o) =>
        (await import("./commands/doctor/findings.ts")).doctor(o),
    }),
    define("pack", "Make an archive that runs on a box without a network.", {
      flags: packFlags(words),
      run: async (o) => (await import("./commands/build/archive.ts")).pack(o),
    }),
    define("diff", "Compare two sets of rows: slower, broken, missing, new.", {
      flags: diffFlags(),
      run: async (o) => (await import("./commands/diff.ts")).diff(o),
    }),
    define("gate", "Calibrate what can be detected; confirm what was.", {
      flags: gateFlags(words),
      run: async (o) => (await import("./commands/gate.ts")).gate(o),
    }),
    define("table", "Show recorded rows as tables, with wins and losses.", {
      flags: tableFlags(words),
      run: async (o) => (await import("./commands/table/tables.ts")).table(o),
    }),
    define("import", "Turn published CSVs into rows of this schema.", {
      flags: importFlags(),
      run: async (o) =>
        (await import("./commands/import/published.ts")).importFiles(o),
    }),
    define("baseline", "Record new results, after showing what they replace.", {
      flags: baselineFlags(),
      run: async (o) =>
        (await import("./commands/import/recorded.ts")).baseline(o),
    }),
    define("report", "Make one HTML page of recorded rows, for anybody.", {
      flags: reportFlags(),
      run: async (o) => (await import("./commands/report/input.ts")).report(o),
    }),
    define("plot", "Draw recorded rows, as PNG and SVG.", {
      flags: plotFlags(words),
      run: async (o) => (await import("./commands/plot/draw.ts")).plot(o),
    }),
    define("amdahl", "Say what faster kernels make of the whole.", {
      flags: amdahlFlags(words),
      run: async (o) => (await import("./commands/table/weights.ts")).amdahl(o),
    }),
  ]);
}

/** The parser of any of `all`. */
export function anyOf(all: Commands): Flags<Run> {
  return or(...Object.values(all));
}
