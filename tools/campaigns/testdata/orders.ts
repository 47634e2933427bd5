/**
 * Runs kernels that leave something behind and right ones in random orders, each order as one
 * job, and compares each row with what the kernel gets alone.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { Row } from "../../../bench/row/row.ts";
import {
  DEFAULTS,
  select,
  type Selected,
  type Settings,
} from "../../../session/mod.ts";
import { jobOf, runJob } from "../../../session/run_job.ts";
import { type Random, randomOf } from "./mutations.ts";

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
  orphans: /^wrong: suspect: left a child process/,
  disowns: /^wrong: suspect: left another signal after the end of its parent/,
  // Only root can, and can load no other library then.
  resigns: Deno.uid() === 0
    ? /^wrong: suspect: left another user/
    : /^crash: .*code 1/,
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
  // Nothing looks for leaks where nothing is timed.
  leaks: /^(ok|wrong: suspect: leaked)/,
  smashes: /^(ok|wrong|crash): /,
  // Where nothing is timed, nothing writes to its inputs again.
  protects: /^(ok|crash): /,
  exits: /^crash: .*code 0/,
  // Its own process may look before it is killed as well.
  kills_parent: /^(wrong: suspect: left a dead parent|crash: .*SIGKILL)/,
  crashes: /^crash: .*SIGSEGV/,
  mistakes: /^wrong: C: 1 of 64/,
};
const RIGHT = ["right", "right_threads", "right_heap", "right_touchy"];

/** Kernels of each kind in an order. */
const EACH = 2;

/** Draws `count` orders. */
export function randomOrders(count: number, seed: number): string[][] {
  const random = randomOf(seed);
  const some = (names: readonly string[]) =>
    shuffled(names, random).slice(0, EACH);
  return Array.from(
    { length: count },
    () => shuffled([...some(Object.keys(LEAVING)), ...some(RIGHT)], random),
  );
}

/** The findings of a campaign. */
export interface Orders {
  /** Rows in all. */
  readonly rows: number;
  /** Failures that a fresh process did not confirm. */
  readonly unconfirmed: number;
  /**
   * Rows that are not what their kernel gets alone, with their orders, and processes that
   * outlive the campaign (Linux).
   */
  readonly failures: readonly string[];
}

/**
 * Runs orders of kernels. Every second one is timed, the others are checked only.
 *
 * @param folder For compiled kernels.
 */
async function runHere(
  orders: Iterable<readonly string[]>,
  folder: string,
): Promise<Orders> {
  const suite = fileURLToPath(new URL("leaving_suite.ts", import.meta.url));
  const selected = await select({
    suites: [suite],
    kernels: [],
    quick: false,
    overrides: {},
    where: {},
    backend: "cpu",
    device: 0,
  });
  const run = (order: readonly string[], checkOnly: boolean) =>
    rowsOf(order, { ...selected, cacheDir: folder, checkOnly });
  const alone = new Map<string, string>();
  for (const name of RIGHT) {
    alone.set(name, outcome((await run([name], true)).rows[0]!));
  }
  const failures: string[] = [];
  let [rows, unconfirmed, turn] = [0, 0, 0];
  for (const order of orders) {
    const said = await run(order, turn++ % 2 > 0);
    unconfirmed += said.unconfirmed;
    rows += said.rows.length;
    const found = said.rows.map((row) => row.key.kernel);
    if (found.join() !== order.join()) {
      failures.push(`${order.join(" ")}: rows of ${found.join(" ")}`);
    }
    for (const row of said.rows) {
      const { kernel } = row.key;
      const text = outcome(row);
      const same = LEAVING[kernel]?.test(text) ?? alone.get(kernel) === text;
      if (!same) failures.push(`${order.join(" ")}: ${kernel} ${text}`);
    }
  }
  failures.push(...others().map((pid) => `process ${pid} outlives its run`));
  return { rows, unconfirmed, failures };
}

/** Marks what this process starts, as its own environment does. */
const MARK = "ORDERS_MARK";

/** The other processes that have this one's mark. */
function others(): number[] {
  const mark = Deno.env.get(MARK);
  if (Deno.build.os !== "linux" || mark === undefined) return [];
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name))
    .filter((pid) => {
      if (!(pid > 0) || pid === Deno.pid) return false;
      try {
        return Deno.readTextFileSync(`/proc/${pid}/environ`).includes(mark);
      } catch (error) {
        // It ended just now, or is another user's.
        if (error instanceof Error) return false;
        throw error;
      }
    });
}

/** Runs orders of kernels in a process of its own, as workers are told them by the environment. */
export async function runOrders(
  orders: readonly (readonly string[])[],
): Promise<Orders> {
  const folder = await Deno.makeTempDir();
  try {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        import.meta.filename!,
        JSON.stringify(orders),
        folder,
      ],
      env: { [MARK]: crypto.randomUUID(), NO_COLOR: "1" },
    }).output();
    const [said, complaint] = [stdout, stderr].map((bytes) =>
      new TextDecoder().decode(bytes)
    ) as [string, string];
    if (said === "") throw new Error(complaint);
    return JSON.parse(said);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const [orders, folder] = Deno.args as [string, string];
  console.log(JSON.stringify(await runHere(JSON.parse(orders), folder)));
  Deno.exit();
}

/** The parts of a row that no time moves, the same whether it is timed or checked. */
function outcome(row: Row): string {
  if (row.status !== "ok" && row.status !== "checked") {
    return `${row.status}: ${row.note}`;
  }
  const { max_abs_err, deterministic } = row.accuracy;
  return `ok: ${max_abs_err} ${deterministic}`;
}

/** Runs the kernels of `order` in one job. */
async function rowsOf(
  order: readonly string[],
  { selection, cases, cacheDir, checkOnly }:
    & Pick<Selected, "selection" | "cases">
    & Pick<Settings, "cacheDir" | "checkOnly">,
): Promise<{ readonly rows: readonly Row[]; readonly unconfirmed: number }> {
  // Workers load the suite again.
  Deno.env.set("ORDER", order.join(" "));
  const rows: Row[] = [];
  let unconfirmed = 0;
  await runJob(
    jobOf({
      selection,
      cases: cases.filter(({ kernel }) => order.includes(kernel)),
      settings: { ...DEFAULTS, warmup: 0, rep: 1, checkOnly, cacheDir },
      run: "0123456789ab",
    }),
    {
      progress: { update() {}, print() {} },
      timeout: 60,
      done: 0,
      failed: 0,
      signal: new AbortController().signal,
      take(event) {
        if (event.event === "row") rows.push(event.row);
        if (event.event === "notice") unconfirmed++;
      },
    },
  );
  return { rows, unconfirmed };
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list.map((item) => [random(), item] as const)
    .toSorted(([a], [b]) => a - b).map(([, item]) => item);
}
