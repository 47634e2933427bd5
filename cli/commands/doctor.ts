/**
 * `mnkbench doctor`: what works on this machine, and what would mend the rest.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { define } from "../command.ts";
import { toggle } from "../options/flags.ts";

/** `mnkbench doctor`. */
export const command = define({
  name: "doctor",
  brief: "Show what works on this machine, and how to fix the rest.",
  examples: ["doctor", "doctor --json"],
  codes: {
    0: "a backend is usable",
    1: "this machine has a GPU, and only the CPU is usable",
    3: "no backend is usable",
  },
  flags: () =>
    object({ json: toggle("--json", "Print the findings as JSON.") }),
  run: async (options) =>
    await (await import("./doctor/findings.ts")).doctor(options),
});
