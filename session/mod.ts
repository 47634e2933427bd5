/**
 * The parts of a sweep: `select()` takes a device and cases, `sweep()` runs them. `bench()` of
 * `mnkbench` is both in one call.
 *
 * @module
 */

export { DEFAULTS } from "../bench/model/settings.ts";
export type { Selection, Settings } from "../bench/model/settings.ts";
export type { Row } from "../bench/row/row.ts";
export type { ProgressView } from "./run_job.ts";
export { settingsOf } from "./options.ts";
export { select, type Selected } from "./select.ts";
export {
  sweep,
  type SweepEnd,
  type SweepObserver,
  type SweepOptions,
} from "./sweep.ts";
