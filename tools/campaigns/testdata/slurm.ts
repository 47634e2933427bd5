/**
 * Kills what takes part in a sweep on a cluster at random moments: whoever follows it, a node with
 * all its jobs, a process of a job; or has Slurm run a job again. In the end each row must be there
 * once, and nothing else be left.
 *
 * @module
 */

import { join } from "node:path";
import { Cluster, NODES } from "../../../cli/testdata/cluster.ts";
import { start, testdata } from "../../../cli/testdata/program.ts";
import { keyText } from "../../../bench/row/row.ts";
import { readRows } from "../../../session/read_rows.ts";
import { unlessMissing } from "../../../bench/files/disk.ts";
import { below, randomOf } from "./mutations.ts";

const ARGS = [
  ...["bench", "--suite", testdata("small_suite.ts"), "--backend", "cpu"],
  ...["--kernel", "naive", "--m", "2,3,4,5,6,7", "--k", "8,32"],
  ...["--warmup", "0.1", "--rep", "200", "--kernel-cache", "cache"],
  ...["--out", "new", "--on", "slurm", "--array", "3"],
];
const CASES = 12;
/** Milliseconds of a sweep that nobody disturbs, within which it is killed. */
const WHOLE_MS = 8_000;

/** The outcome of a campaign. */
export interface ClusterKills {
  /** Kills by their kind; those that came after the end do not count. */
  readonly killed: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

const KINDS = ["client", "node", "process", "requeue"] as const;

/** Disturbs `count` sweeps. Needs Slurm, root and a C compiler. */
export async function killOnCluster(
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<ClusterKills> {
  const random = randomOf(seed);
  const killed: Record<string, number> = {};
  const failures: string[] = [];
  await using cluster = await Cluster.start();
  for (let i = 0; i < count; i++) {
    const folder = Deno.makeTempDirSync({ prefix: "kills-" });
    const kind = KINDS[i % KINDS.length]!;
    const moment = random() * WHOLE_MS;
    const node = NODES[below(random, NODES.length)]!;
    const said = `${kind} (${node}), after ${Math.round(moment)} ms`;
    const { env } = cluster;
    const child = start(ARGS, folder, { env });
    let isOver = false;
    const ended = child.output().then((output) => {
      isOver = true;
      return output;
    });
    await new Promise((resolve) => setTimeout(resolve, moment));
    let victim = "";
    if (!isOver) {
      killed[kind] = (killed[kind] ?? 0) + 1;
      if (kind === "client") child.kill("SIGKILL");
      else if (kind === "process") {
        victim = cluster.killProcess(node, random());
      } else if (kind === "requeue") await requeue(cluster, random());
      else {
        cluster.killNode(node);
        cluster.startNode(node);
      }
    }
    let { code, stderr } = await ended;
    // A shard that could not load its suite file did not end: the same command submits it again.
    const isLeft = victim.includes("session/suite_trial.ts") && code === 2;
    if (kind === "client" && code !== 0 || isLeft) {
      ({ code, stderr } = await start(ARGS, folder, { env }).output());
    }
    const { flaws, crashes } = await flawsIn(folder);
    // The end of a worker is a crash of the kernel that it ran: of that row alone.
    const most = victim.includes("session/worker.ts") ? 1 : 0;
    if (crashes > most) flaws.push(`${crashes} rows of killed workers`);
    if (code !== Math.min(most, crashes)) {
      const text = new TextDecoder().decode(stderr);
      flaws.push(`exit code ${code}: ${text}`);
    }
    for (const flaw of flaws) failures.push(`${said}: ${flaw}`);
    Deno.removeSync(folder, { recursive: true });
  }
  return { killed, failures };
}

async function requeue(cluster: Cluster, share: number): Promise<void> {
  const running = (await cluster.jobs())
    .filter((job) => job.endsWith("RUNNING"));
  const job = running[Math.floor(share * running.length)];
  if (job === undefined) return;
  const [id, index] = job.split(" ");
  await cluster.run("scontrol", ["requeue", `${id}_${index}`]);
}

const CRASHED = "The worker was killed by SIGKILL";

/** Returns what is wrong in `folder`, and how many rows are of workers that were killed. */
async function flawsIn(
  folder: string,
): Promise<{ flaws: string[]; crashes: number }> {
  const flaws: string[] = [];
  let crashes = 0;
  try {
    const rows = await readRows([join(folder, "new")]);
    const keys = new Set(rows.map(({ row }) => keyText(row)));
    if (rows.length !== CASES || keys.size !== CASES) {
      flaws.push(`${rows.length} rows of ${keys.size} cases, not ${CASES}`);
    }
    const bad = rows.filter(({ row }) => row.status !== "ok");
    for (const { row: { status, note } } of bad) {
      if (status === "crash" && note === CRASHED) crashes++;
      else flaws.push(`${status}: ${note}`);
    }
  } catch (error) {
    flaws.push(`no rows: ${error}`);
  }
  const runs = join(folder, ".runs");
  const left = [runs, join(runs, "slurm")].flatMap((path) =>
    unlessMissing(() => [...Deno.readDirSync(path)]) ?? []
  ).map(({ name }) => name).filter((name) => name !== "slurm");
  if (left.length > 0) flaws.push(`left ${left.join(", ")}`);
  return { flaws, crashes };
}
