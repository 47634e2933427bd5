/**
 * Sweeps without a command line: what `mnkbench bench` does, for programs.
 *
 * ```ts ignore
 * import { DEFAULTS, select, sweep } from "mnkbench/session";
 *
 * const selected = await select({
 *   suites: ["epilogue-bf16"],
 *   kernels: [],
 *   overrides: { m: [16], k: [8192] },
 *   where: {},
 *   ...{ quick: false, backend: "cuda", device: 0 },
 * });
 * const { rows } = await sweep(selected, { ...DEFAULTS, cacheDir: ".cache" }, {
 *   ...{ runs: 1, out: "results", fresh: true, resume: false, timeout: 60 },
 *   signal: AbortSignal.timeout(600_000),
 *   observer: {
 *     note: console.error,
 *     row: ({ key, status }) => console.log(key.kernel, status),
 *     progress: () => ({ update() {}, print: console.error, [Symbol.dispose]() {} }),
 *   },
 * });
 * ```
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
