/**
 * A cluster of Slurm on this machine, which tests have to themselves: munged, slurmctld and two
 * nodes, with all their files in one folder.
 *
 * @module
 */

import { join } from "node:path";
import { kill } from "../../bench/files/run_program.ts";
import { readIfThere, unlessMissing } from "../../bench/files/disk.ts";

const PROGRAMS = ["munged", "slurmctld", "slurmd"];
const PATHS = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"];

/** Says why no cluster can be started here, for the names of tests; empty where it can. */
export function lackingSlurm(): string {
  if (Deno.build.os !== "linux") return " (ignored: Slurm needs Linux)";
  const missing = PROGRAMS.find((name) => pathOf(name) === undefined);
  if (missing !== undefined) {
    return ` (ignored: ${missing} is missing; install slurm-wlm and munge)`;
  }
  return Deno.uid() === 0 ? "" : " (ignored: nodes of Slurm need root)";
}

function pathOf(name: string): string | undefined {
  return PATHS.map((folder) => join(folder, name)).find((path) =>
    unlessMissing(() => Deno.statSync(path))?.isFile
  );
}

/** The variable by which the processes of a node are found. */
const NODE = "MNKBENCH_TEST_NODE";
export const NODES = ["n1", "n2"] as const;

/** A running cluster. */
export class Cluster implements AsyncDisposable {
  readonly #folder: string;
  readonly #daemons = new Map<string, Deno.ChildProcess>();
  readonly #output: Promise<unknown>[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** The variables of what uses it. */
  get env(): Readonly<Record<string, string>> {
    return { SLURM_CONF: join(this.#folder, "slurm.conf") };
  }

  /** Starts one, with arrays of at most `most - 1` shards. */
  static async start(most = 101): Promise<Cluster> {
    const folder = Deno.makeTempDirSync({ prefix: "mnkbench-slurm-" });
    // The munge library wants folders that others cannot write to.
    Deno.chmodSync(folder, 0o755);
    const cluster = new Cluster(folder);
    try {
      await cluster.#begin(most);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #begin(most: number): Promise<void> {
    const at = (name: string) => join(this.#folder, name);
    Deno.writeFileSync(
      at("key"),
      crypto.getRandomValues(new Uint8Array(1024)),
      { mode: 0o400 },
    );
    Deno.mkdirSync(at("state"));
    Deno.writeTextFileSync(at("slurm.conf"), this.#config(most));
    // Beside it, where Slurm looks for it: each node says that it has a GPU.
    Deno.writeTextFileSync(at("gres.conf"), "Name=gpu File=/dev/zero\n");
    this.#spawn("munged", [
      ...["--foreground", "--force", `--key-file=${at("key")}`],
      ...[`--socket=${at("munge.socket")}`, `--pid-file=${at("munged.pid")}`],
      ...[`--seed-file=${at("seed")}`, `--log-file=${at("munged.log")}`],
    ]);
    await until(
      "munged listens",
      () =>
        unlessMissing(() => Deno.statSync(at("munge.socket"))) !== undefined,
    );
    this.#spawn("slurmctld", ["-D"]);
    for (const node of NODES) this.startNode(node);
    await until("both nodes are idle", async () => {
      const states = await this.run("sinfo", ["-h", "-N", "-o", "%T"]);
      return states.split("\n").filter((line) => line === "idle").length === 2;
    });
  }

  #config(most: number): string {
    const at = (name: string) => join(this.#folder, name);
    const host = Deno.hostname().split(".")[0]!;
    const [controller, ...nodes] = freePorts(3);
    return `ClusterName=mnkbench
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# Requeued jobs wait until their credentials have expired.
AuthInfo=socket=${at("munge.socket")},cred_expire=5
StateSaveLocation=${at("state")}
SlurmdSpoolDir=${at("spool-%n")}
SlurmctldPidFile=${at("slurmctld.pid")}
SlurmdPidFile=${at("slurmd-%n.pid")}
SlurmctldLogFile=${at("slurmctld.log")}
SlurmdLogFile=${at("slurmd-%n.log")}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MaxArraySize=${most}
${
      NODES.map((node, i) =>
        `NodeName=${node} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${
          nodes[i]
        } CPUs=1 Gres=gpu:1 State=UNKNOWN`
      ).join("\n")
    }
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
`;
  }

  #spawn(name: string, args: readonly string[], node = ""): void {
    const child = new Deno.Command(pathOf(name)!, {
      args: [...args],
      env: { ...this.env, [NODE]: node && `${this.#folder}/${node}` },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    this.#daemons.set(`${name}${node}`, child);
    this.#output.push(child.status);
  }

  /** Starts a node. */
  startNode(node: typeof NODES[number]): void {
    this.#spawn("slurmd", ["-D", "-N", node], node);
  }

  /** Kills a node with all that it runs, as a loss of power does. */
  killNode(node: typeof NODES[number]): void {
    this.#daemons.get(`slurmd${node}`)!.kill("SIGKILL");
    for (const pid of processesWith(`${NODE}=${this.#folder}/${node}`)) {
      kill(pid);
    }
    for (const pid of this.#processes(node)) kill(pid);
  }

  /** Stops all processes of the jobs of a node with SIGSTOP: its jobs run, but do not end. */
  stopProcesses(node: typeof NODES[number]): void {
    for (const pid of this.#processes(node)) kill(pid, "SIGSTOP");
  }

  /**
   * Kills one process of the jobs of a node, which `share`, from 0 to 1, chooses.
   *
   * @returns Its command line; empty where there was none.
   */
  killProcess(node: typeof NODES[number], share: number): string {
    const all = this.#processes(node);
    const pid = all[Math.floor(share * all.length)];
    if (pid === undefined) return "";
    const command = readIfThere(`/proc/${pid}/cmdline`) ?? "";
    kill(pid);
    return command.replaceAll("\0", " ");
  }

  /** The processes of the jobs of a node. */
  #processes(node: typeof NODES[number]): readonly number[] {
    return processesWith(
      `SLURM_CONF=${this.env.SLURM_CONF}`,
      `SLURMD_NODENAME=${node}`,
    );
  }

  /** Runs a program of Slurm. @returns What it printed. */
  async run(name: string, args: readonly string[]): Promise<string> {
    const { stdout } = await new Deno.Command(name, {
      args: [...args],
      env: this.env,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).output();
    return new TextDecoder().decode(stdout);
  }

  /** The state of each job that Slurm knows, `ARRAY INDEX STATE`. */
  async jobs(): Promise<readonly string[]> {
    const format = ["-h", "-r", "-t", "all", "-o", "%F %K %T"];
    return (await this.run("squeue", format)).trim().split("\n")
      .filter((line) => line !== "");
  }

  /** Cancels everything, and forgets what has ended. */
  async clear(): Promise<void> {
    await this.run("scancel", ["--state=PENDING"]);
    await this.run("scancel", ["--state=RUNNING"]);
    await until(
      "no job is left",
      async () =>
        (await this.jobs()).every((job) =>
          /COMPLETED|CANCELLED|FAILED|TIMEOUT|NODE_FAIL/.test(job)
        ),
    );
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of NODES) {
      if (this.#daemons.has(`slurmd${node}`)) this.killNode(node);
    }
    for (const child of this.#daemons.values()) kill(child.pid);
    await Promise.all(this.#output);
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

/** Waits until `is` returns true. @throws {Error} After a minute. */
export async function until(
  what: string,
  is: () => boolean | Promise<boolean>,
  limitMs = 60_000,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!await is()) {
    if (performance.now() > end) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function freePorts(count: number): readonly number[] {
  const open = Array.from(
    { length: count },
    () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  );
  const ports = open.map(({ addr }) => (addr as Deno.NetAddr).port);
  for (const one of open) one.close();
  return ports;
}

/** The processes whose environment has all of `variables`. */
function processesWith(...variables: readonly string[]): readonly number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name))
    .filter((pid) => {
      if (!Number.isInteger(pid) || pid === Deno.pid) return false;
      try {
        const env = Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0");
        return variables.every((one) => env.includes(one));
      } catch {
        // It has ended since it was listed.
        return false;
      }
    });
}
