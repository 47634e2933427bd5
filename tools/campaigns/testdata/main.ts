/**
 * Runs the campaigns that its arguments name, all by default, and prints a line for each: what
 * `deno task test:soak` does after the mistakes of `tools/mutants/`.
 *
 * @module
 */

import { bisectPlanted } from "./bisects.ts";
import { compareKnown } from "./compares.ts";
import { damageFiles, formatTally } from "./damage.ts";
import { lackingSlurm } from "../../../cli/testdata/cluster.ts";
import { killCommands } from "./kills.ts";
import { randomOrders, runOrders } from "./orders.ts";
import { checkShapes } from "./shapes.ts";
import { killOnCluster } from "./slurm.ts";
import { writeAtOnce } from "./writers.ts";

/** Milliseconds in which a damaged file is refused on a machine that does nothing else. */
const LIMIT_MS = 5_000;

/** Each prints its summary. @returns What failed. */
const CAMPAIGNS: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  async damage() {
    const options = { count: 500, seed: 1, limitMs: LIMIT_MS };
    const failures: string[] = [];
    for await (const tally of damageFiles(options)) {
      console.log(formatTally(tally));
      failures.push(...tally.failures);
    }
    return failures;
  },
  async kills() {
    const { killed, failures } = await killCommands({ count: 200, seed: 1 });
    const counts = Object.entries(killed).map(([name, n]) => `${n} of ${name}`);
    console.log(
      `kills: ${counts.join(", ")}: ${failures.length} left something wrong`,
    );
    return failures;
  },
  async writers() {
    const { rows, failures } = await writeAtOnce({ writers: 8, rounds: 20 });
    console.log(
      `writers: 8 at once, 20 times: ${rows} rows written, ${failures.length} times one was lost`,
    );
    return failures;
  },
  async orders() {
    const { rows, unconfirmed, failures } = await runOrders(
      randomOrders(400, 1),
    );
    console.log(
      `orders: 400 of kernels that leave something behind and right ones, ${rows} rows: ${failures.length} changed by another kernel, ${unconfirmed} failures that a fresh process did not confirm`,
    );
    return failures;
  },
  async slurm() {
    const why = lackingSlurm();
    if (why !== "") {
      console.log(`slurm: left out${why}`);
      return [];
    }
    const { killed, failures } = await killOnCluster({ count: 50, seed: 1 });
    const counts = Object.entries(killed).map(([name, n]) => `${n} of ${name}`);
    console.log(
      `slurm: kills of sweeps on a cluster: ${
        counts.join(", ")
      }: ${failures.length} left something wrong`,
    );
    return failures;
  },
  async bisects() {
    const { found, measured, seconds, failures } = await bisectPlanted(
      { count: 20, seed: 1 },
    );
    const longest = Math.max(...seconds).toFixed(0);
    console.log(
      `bisects: of 64 commits the slower one was found ${found} of 20 times, with at most ${measured} measured, in ${longest} s at most`,
    );
    for (const failure of failures) console.log(failure.slice(0, 1000));
    // A busy machine may hide a difference once.
    return failures.length > 1 ? failures : [];
  },
  async compares() {
    const { slower, itself, failures } = await compareKnown(20);
    const counts = (verdicts: Readonly<Record<string, number>>) =>
      Object.entries(verdicts).map(([name, n]) => `${n} ${name}`).join(", ");
    console.log(
      `compares: with a kernel that does 3 % more, 20 times: ${
        counts(slower)
      }; with itself, 20 times: ${counts(itself)}`,
    );
    return failures;
  },
  async shapes() {
    const options = { count: 170, seed: 1 };
    const { right, unsupported, failures } = await checkShapes(options);
    console.log(
      `shapes: auto right at ${right} random points, ${unsupported} that no kernel takes: ${failures.length} operations with something wrong`,
    );
    return failures;
  },
};

const failures: string[] = [];
for (const [name, run] of Object.entries(CAMPAIGNS)) {
  if (Deno.args.length === 0 || Deno.args.includes(name)) {
    failures.push(...await run());
  }
}
for (const failure of failures) console.log(failure.slice(0, 1000));
Deno.exit(failures.length > 0 ? 1 : 0);
