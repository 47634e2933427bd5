/**
 * The commands, in the order of the help. Each has a file, which is loaded when it is
 * needed.
 *
 * @module
 */

import type { Command } from "./command.ts";

/** Loads a command's file. */
export type Load = () => Promise<{ readonly command: Command }>;

/** Every command by its name. */
export const COMMANDS: Readonly<Record<string, Load>> = {
  bench: () => import("./commands/bench.ts"),
  check: () => import("./commands/check.ts"),
  tune: () => import("./commands/tune.ts"),
  compare: () => import("./commands/compare.ts"),
  diff: () => import("./commands/diff.ts"),
  table: () => import("./commands/table.ts"),
  plot: () => import("./commands/plot.ts"),
  report: () => import("./commands/report.ts"),
  import: () => import("./commands/import.ts"),
  list: () => import("./commands/list.ts"),
  build: () => import("./commands/build.ts"),
  doctor: () => import("./commands/doctor.ts"),
};

/** The commands of version 0.1 that have another name now, and what to type. */
export const RENAMED: Readonly<Record<string, string>> = {
  gate:
    "gate is now compare: mnkbench compare BASE NEW (or mnkbench compare --calibrate)",
  timings:
    "timings is now part of tune: mnkbench tune list (edit, forget, merge)",
  baseline: "baseline is now part of import: mnkbench import FROM --into DIR",
  pack: "pack is now part of build: mnkbench build --pack --out FILE",
  amdahl:
    "amdahl is now part of table: mnkbench table --weights FILE... --gemm-fraction SHARE",
};
