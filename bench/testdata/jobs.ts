/** Jobs and journals to test with. */

import { DEFAULTS } from "../model/settings.ts";
import type { RunInfo } from "../worker/journal.ts";
import type { Job } from "../worker/protocol.ts";

/** A job for the fake worker. */
export const JOB: Job = {
  suites: ["s"],
  backend: "fake",
  device: 0,
  cases: [],
  settings: { ...DEFAULTS, cacheDir: ".cache" },
  skip: [],
  configs: {},
  run: "0123456789ab",
};

/** The run that asks for {@linkcode JOB}. */
export const INFO: RunInfo = {
  selection: {
    suites: ["s"],
    kernels: [],
    backend: "fake",
    device: 0,
    points: "all",
    overrides: {},
    where: {},
  },
  settings: JOB.settings,
  runs: 1,
  harness: "0.1.0",
  device: "Fake (1)",
  arch: "fake",
  command: ["bench"],
  started: "2026-01-02T03:04:05Z",
};

/** A command that starts the fake worker. */
export function commandOf(...args: string[]): [string, ...string[]] {
  return denoRun("fake_worker.ts", ...args);
}

/** A command that runs a program of this folder. */
export function denoRun(
  file: string,
  ...args: string[]
): [string, ...string[]] {
  const { pathname } = new URL(file, import.meta.url);
  const flags = ["--no-check", "--allow-all", "--quiet"];
  return [Deno.execPath(), "run", ...flags, pathname, ...args];
}
