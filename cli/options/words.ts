/**
 * Names that shell completion offers.
 *
 * @module
 */

import { backends } from "../../backends/mod.ts";
import { suites } from "../../suites/mod.ts";
import type { Words } from "../../session/options.ts";
import { ALL } from "../../session/select.ts";

/** The names of everything built in. */
export function words(): Words {
  const kernels = suites.flatMap((suite) => suite.kernels);
  return {
    suites: [...suites.map(({ name }) => name), ALL],
    kernels: [...new Set(kernels.map(({ name }) => name))],
    backends: backends.map(({ name }) => name),
  };
}
