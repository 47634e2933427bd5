/**
 * Prints how long each phase of each case takes, in milliseconds: wall time, then the processor
 * time of all, and the most memory that the process held until then.
 *
 * Runs the cases in this process, so that `deno run --cpu-prof` shows the functions behind a phase.
 * The first argument selects cases, the second changes settings (`bench/model/settings.ts`):
 *
 * ```
 * deno run -A docs/notes/host-time/profile.ts '{"suites":["epilogue-bf16"],"kernels":["cublas"]}' '{"timer":"graph","rep":20,"level":0}'
 * ```
 *
 * @module
 */

import process from "node:process";
import { CaseRun } from "../../../bench/measure/case_run.ts";
import { jobOf } from "../../../session/run_job.ts";
import { settingsOf } from "../../../session/options.ts";
import { select } from "../../../session/select.ts";
import { work } from "../../../session/worker.ts";

const PHASES = [
  ...["bind", "choose", "build", "check"],
  ...["time", "recheck", "demandNoTraces"],
] as const;

const [chosen = "{}", changed = "{}"] = Deno.args;
const selected = await select({
  ...{ suites: [], kernels: [], overrides: {}, where: {}, quick: false },
  ...{ backend: undefined, device: 0 },
  ...JSON.parse(chosen),
});
const settings = settingsOf(
  {
    ...{ seed: 1, fill: "normal", prebuilt: false },
    ...{ kernelCache: undefined, timeout: 600 },
  },
  JSON.parse(changed),
);

const spent = new Map<string, number>();
for (const name of PHASES) {
  const { value: phase } = Object.getOwnPropertyDescriptor(
    CaseRun.prototype,
    name,
  )!;
  Object.defineProperty(CaseRun.prototype, name, {
    value(this: CaseRun) {
      const start = performance.now();
      const end = () => {
        const ms = performance.now() - start;
        spent.set(name, (spent.get(name) ?? 0) + ms);
      };
      const result: unknown = phase.call(this);
      if (result instanceof Promise) return result.finally(end);
      end();
      return result;
    },
  });
}

/** The most memory that the process held so far. */
function mostMemory(): string {
  const text = Deno.readTextFileSync("/proc/self/status");
  return /VmHWM:\s*(.*)/.exec(text)![1]!;
}

/** Milliseconds of processor time so far. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const start = performance.now();
let used = processorTime();
const totals = [...PHASES, "processor"].map(() => 0);
const line = (numbers: readonly number[], what: string) =>
  console.log(
    `${numbers.map((ms) => ms.toFixed(1).padStart(15)).join("")}  ${what}`,
  );
console.log(
  [...PHASES, "processor"].map((name) => name.padStart(15)).join(""),
);
const { selection, cases } = selected;
const job = jobOf({ selection, cases, settings, run: "host-time" });
const code = await work(job, (event) => {
  if (event.event === "ready") used = processorTime();
  else if (event.event === "row") {
    const { key, status, note } = event.row;
    const before = used;
    used = processorTime();
    const numbers = [
      ...PHASES.map((name) => spent.get(name) ?? 0),
      used - before,
    ];
    for (const [i, ms] of numbers.entries()) totals[i]! += ms;
    const place = `${key.m}x${key.n}x${key.k} ${key.params}`;
    line(
      numbers,
      `${mostMemory()} ${key.kernel} ${place} ${status} ${note}`,
    );
    spent.clear();
  } else if (event.event === "fatal") console.error(event.message);
  else if (event.event === "done") {
    line(totals, "all");
    console.log(event.spent);
    console.log(`${(event.memoryBytes / 1e6).toFixed()} MB between cases`);
  }
});
console.log(`${((performance.now() - start) / 1000).toFixed(1)} s`);
Deno.exit(code);
