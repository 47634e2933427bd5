/**
 * Runs kernels that leave something behind and right ones in random orders, each order as one
 * job, and compares each row with what the kernel gets alone.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { Row } from "../../bench/row/row.ts";
import { DEFAULTS, select, type Selected } from "../../session/mod.ts";
import { jobOf, runJob } from "../../session/run_job.ts";

/** What a kernel gets by itself, as `status: note`. */
const LEAVING: Readonly<Record<string, RegExp>> = {
  // It depends on what the thread meets first: a comparison, or memory that is gone.
  writes: /^(wrong|crash): /,
  writes_late: /^(wrong|crash|ok): /,
  spins: /^ok: /,
  rounds_up: /^wrong: suspect: changed the floating-point environment/,
  flushes_denormals: /^wrong: suspect: changed the floating-point environment/,
  // Or its own alarm ends it, where the machine is busy.
  alarms: /^(wrong: suspect: left an alarm|crash: .* SIGALRM)/,
  profiles: /^(wrong: suspect: left a profiling timer|crash: .* SIGPROF)/,
  limits_cpu:
    /^(wrong: suspect: left another limit of CPU|crash: .* SIG(XCPU|KILL))/,
  limits_memory:
    /^(wrong: suspect: left another limit of address|crash: |oom: )/,
  limits_files:
    /^(wrong: suspect: left another limit of open files|crash: |launch: )/,
  limits_size: /^wrong: suspect: left another limit of file size/,
  forks: /^wrong: suspect: left a child process/,
  daemonizes: /^wrong: suspect: left a child process/,
  closes_input: /^wrong: suspect: left another file as standard input/,
  closes_output: /^crash: /,
  closes_error: /^wrong: suspect: left another file as standard error/,
  moves: /^wrong: suspect: left another working directory/,
  masks_files: /^wrong: suspect: left another file mode mask/,
  masks_signals: /^wrong: suspect: left another signal mask/,
  handles: /^wrong: suspect: left another handler of signal 11/,
  yields: /^wrong: suspect: left another priority/,
  narrows: /^ok: /,
  sets: /^ok: /,
  leaks: /^wrong: suspect: leaked/,
  smashes: /^(ok|wrong|crash): /,
  protects: /^crash: /,
  exits: /^crash: .*code 0/,
  kills_parent: /^crash: .*SIGKILL/,
  crashes: /^crash: .*SIGSEGV/,
  mistakes: /^wrong: C: 1 of 64/,
};
const RIGHT = ["right", "right_threads", "right_heap", "right_touchy"];

/** Kernels of each kind in an order. */
const EACH = 3;

/** The findings of a campaign. */
export interface Campaign {
  /** Rows that are not what their kernel gets alone, with their orders. */
  readonly changed: readonly string[];
  /** Rows in all. */
  readonly rows: number;
  /** Failures that a fresh process did not confirm. */
  readonly taken: number;
}

/**
 * Runs `count` orders of kernels.
 *
 * @param seed Of the orders.
 * @param folder For compiled kernels.
 */
export async function campaign(
  { count, seed, folder }: {
    readonly count: number;
    readonly seed: number;
    readonly folder: string;
  },
): Promise<Campaign> {
  const suite = fileURLToPath(new URL("leaving_suite.ts", import.meta.url));
  const selected = await select({
    ...{ suites: [suite], kernels: [], quick: false },
    ...{ overrides: {}, where: {}, backend: "cpu", device: 0 },
  });
  const run = (order: readonly string[]) => rowsOf(order, selected, folder);
  const random = generator(seed);
  const alone = new Map<string, string>();
  for (const name of RIGHT) {
    alone.set(name, outcome((await run([name])).rows[0]!));
  }
  const changed: string[] = [];
  let [rows, taken] = [0, 0];
  for (let i = 0; i < count; i++) {
    const order = shuffled([
      ...shuffled(Object.keys(LEAVING), random).slice(0, EACH),
      ...shuffled(RIGHT, random).slice(0, EACH),
    ], random);
    const said = await run(order);
    taken += said.taken;
    rows += said.rows.length;
    const found = said.rows.map((row) => row.key.kernel);
    if (found.join() !== order.join()) {
      changed.push(`${order.join(" ")}: rows of ${found.join(" ")}`);
    }
    for (const row of said.rows) {
      const { kernel } = row.key;
      const text = outcome(row);
      const same = LEAVING[kernel]?.test(text) ?? alone.get(kernel) === text;
      if (!same) changed.push(`${order.join(" ")}: ${kernel} ${text}`);
    }
  }
  return { changed, rows, taken };
}

/** The parts of a row that no time moves. */
function outcome(row: Row): string {
  const errors = "accuracy" in row && row.status === "ok"
    ? JSON.stringify(row.accuracy)
    : row.note;
  return `${row.status}: ${errors}`;
}

/** Runs the kernels of `order` in one job. */
async function rowsOf(
  order: readonly string[],
  { selection, cases }: Pick<Selected, "selection" | "cases">,
  cacheDir: string,
): Promise<{ readonly rows: readonly Row[]; readonly taken: number }> {
  // Workers load the suite again.
  Deno.env.set("ORDER", order.join(" "));
  const rows: Row[] = [];
  let taken = 0;
  await runJob(
    jobOf({
      selection,
      cases: cases.filter(({ kernel }) => order.includes(kernel)),
      settings: { ...DEFAULTS, warmup: 0, rep: 1, cacheDir },
      run: "0123456789ab",
    }),
    {
      progress: { update() {}, print() {} },
      ...{ timeout: 60, done: 0, failed: 0 },
      signal: new AbortController().signal,
      take(event) {
        if (event.event === "row") rows.push(event.row);
        if (event.event === "notice") taken++;
      },
    },
  );
  return { rows, taken };
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list.map((item) => [random(), item] as const)
    .toSorted(([a], [b]) => a - b).map(([, item]) => item);
}

/** Numbers in [0, 1): Lehmer's generator. */
function generator(seed: number): () => number {
  let state = seed % 2147483647 || 1;
  return () => (state = state * 48271 % 2147483647) / 2147483647;
}
