import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { readIfThere, unlessMissing } from "../bench/files/disk.ts";
import { temporary } from "../bench/testdata/temporary.ts";
import { keyText } from "../bench/row/row.ts";
import { readRows } from "../session/read_rows.ts";
import { Cluster, lackingSlurm, NODES, until } from "./testdata/cluster.ts";
import {
  lacking,
  program,
  type Ran,
  start,
  testdata,
} from "./testdata/program.ts";

const why = lackingSlurm() || lacking();

/** A folder, and the program with the cluster in it. */
interface Place {
  readonly cluster: Cluster;
  readonly folder: string;
  /** Runs `bench` of 12 cases, `ms` milliseconds each. */
  bench(options: readonly string[], ms?: number): Promise<Ran>;
  start(options: readonly string[], ms?: number): Deno.ChildProcess;
  /** The keys of the rows in `out`. */
  keys(out?: string): Promise<readonly string[]>;
}

const ON = ["--on", "slurm", "--array"];

function wordsOf(options: readonly string[], ms: number): string[] {
  return [
    ...["bench", "--suite", testdata("small_suite.ts"), "--backend", "cpu"],
    ...["--kernel", "naive", "--m", "2,3,4,5,6,7", "--k", "8,32"],
    ...["--kernel-cache", "cache"],
    ...(options.includes("--out") ? [] : ["--out", "new"]),
    ...["--warmup", "0.1", "--rep", `${ms}`, ...options],
  ];
}

function test(
  name: string,
  work: (place: Place) => Promise<void>,
  reason = why,
) {
  Deno.test({
    name: `--on slurm ${name}${reason}`,
    ignore: reason !== "",
    async fn() {
      await using cluster = await Cluster.start();
      using place = temporary();
      // No name that a user may give a folder does any harm.
      const folder = join(place.path, `a 'b" $(touch x) %j\n;#`);
      Deno.mkdirSync(folder);
      const { env } = cluster;
      const own = { cwd: folder, env };
      await work({
        cluster,
        folder,
        bench: (options, ms = 1) => program(wordsOf(options, ms), own),
        start: (options, ms = 1) =>
          start(wordsOf(options, ms), folder, { env }),
        async keys(out = "new") {
          const rows = await readRows([join(folder, out)]);
          return rows.map(({ row }) => keyText(row)).toSorted();
        },
      });
    },
  });
}

/** Waits until jobs run, and some rows are kept. */
async function atWork({ cluster, folder }: Place): Promise<void> {
  await until("a row is kept", () => {
    const runs = join(folder, ".runs");
    const names = unlessMissing(() => [...Deno.readDirSync(runs)]) ?? [];
    return names.some(({ name }) => {
      const path = join(runs, name, "journal.jsonl");
      return (readIfThere(path) ?? "") !== "";
    });
  });
  const jobs = await cluster.jobs();
  assert(jobs.some((job) => job.endsWith("RUNNING")), jobs.join());
}

async function said(child: Deno.ChildProcess): Promise<Ran> {
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** The arrays that were submitted. */
async function arrays({ cluster }: Place): Promise<number> {
  return new Set((await cluster.jobs()).map((job) => job.split(" ")[0])).size;
}

test("measures what one machine does, and leaves nothing behind", async (place) => {
  const whole = await place.bench(["--out", "whole"]);
  assertEquals(whole.code, 0, whole.stderr);
  const { code, stdout, stderr } = await place.bench([
    ...[...ON, "3", "--gres", "gpu:1", "--partition=main", "--time", "5"],
  ]);
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /small on .*\n/);
  const keys = await place.keys();
  assertEquals(keys.length, 12);
  assertEquals(keys, await place.keys("whole"));
  const names = [...Deno.readDirSync(place.folder)].map(({ name }) => name);
  assertEquals(names.toSorted(), [".runs", "cache", "new", "whole"]);
  const left = [...Deno.readDirSync(join(place.folder, ".runs/slurm"))];
  assertEquals(left, []);
});

test("goes on with its jobs after it was stopped", async (place) => {
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    const first = place.start([...ON, "2"], 300);
    const output = said(first);
    await atWork(place);
    first.kill(signal);
    const { code, stderr } = await output;
    if (signal === "SIGINT") {
      assertEquals(code, 130, stderr);
      assertMatch(stderr, /Stopped: the jobs go on.*scancel --name=mnkbench-/);
    }
  }
  const { code, stderr } = await place.bench([...ON, "2"], 300);
  assertEquals(code, 0, stderr);
  assertEquals((await place.keys()).length, 12);
  assertEquals(await arrays(place), 1);
});

test("measures what a killed node lost, and keeps what it had", async (place) => {
  const child = place.start([...ON, "2"], 300);
  const output = said(child);
  await atWork(place);
  place.cluster.killNode("n1");
  place.cluster.startNode("n1");
  await atWork(place);
  const running = (await place.cluster.jobs())
    .find((job) => job.endsWith("RUNNING"))!.split(" ");
  await place.cluster.run("scontrol", [
    ...["requeue", `${running[0]}_${running[1]}`],
  ]);
  const { code, stderr } = await output;
  assertEquals(code, 0, stderr);
  assertEquals((await place.keys()).length, 12);
});

test("says what was cancelled, and goes on with it", async (place) => {
  const first = place.start([...ON, "2"], 300);
  const cancelled = said(first);
  await atWork(place);
  await place.cluster.clear();
  const one = await cancelled;
  assertEquals(one.code, 1, one.stderr);
  assertMatch(
    one.stderr,
    /Shard 1 of 2 was cancelled; its rows are kept: the same/,
  );
  assertMatch(one.stderr, /error: 2 of 2 shards did not end/);
  const { code, stderr } = await place.bench([...ON, "2"], 300);
  assertEquals(code, 0, stderr);
  assertEquals((await place.keys()).length, 12);
});

test("says what hit its time limit, and goes on with a longer one", async (place) => {
  const child = place.start([...ON, "2"], 2_000);
  const late = said(child);
  await atWork(place);
  // Slurm compares times with limits every 30 s: no job may end before.
  for (const node of NODES) place.cluster.stopProcesses(node);
  for (const job of await place.cluster.jobs()) {
    const [id, index, state] = job.split(" ");
    if (state !== "RUNNING") continue;
    await place.cluster.run("scontrol", [
      ...["update", `JobId=${id}_${index}`, "EndTime=now"],
    ]);
  }
  const first = await late;
  assertEquals(first.code, 1, first.stderr);
  assertMatch(first.stderr, /hit its time limit; .* a longer --time/);
  const { code, stderr } = await place.bench(
    [...ON, "2", "--time", "5"],
    2_000,
  );
  assertEquals(code, 0, stderr);
  assertEquals((await place.keys()).length, 12);
});

test("refuses what Slurm refuses in one line", async (place) => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ["2", "--partition", "no'pe $(touch y)\nx"],
      /partition.*`sinfo -s` lists/,
    ],
    [["2", "--gres", "none:1"], /generic resource.*`sinfo -o %G`/],
    [["101"], /MaxArraySize allows --array 100 at most/],
    [["0"], /0 is not a whole number from 1 to 10000/],
    [["2", "--shard", "1/2"], /Cannot combine --on slurm with --shard/],
    [["2", "--time", "never"], /never is no time limit: give minutes/],
  ];
  for (const [options, line] of cases) {
    const { code, stdout, stderr } = await place.bench([...ON, ...options]);
    assertEquals([code, stdout], [2, ""], stderr);
    const lines = stderr.trim().split("\n");
    assertMatch(lines.find((one) => one.startsWith("error: "))!, line);
  }
  assertEquals(await place.cluster.jobs(), []);
  const names = [...Deno.readDirSync(place.folder)].map(({ name }) => name);
  assertEquals(names, [".runs"]);
});

test("checks and tunes as one machine does", async ({ cluster, folder }) => {
  const own = { cwd: folder, env: cluster.env };
  const kept = ["--kernel-cache", "cache", "--timing-cache", "timings.json"];
  const check = (...more: string[]) =>
    program([
      ...["check", "--suite", testdata("small_suite.ts"), "--backend", "cpu"],
      ...["--m", "2,3", "--k", "8", ...kept, ...more],
    ], own);
  const [alone, shards] = [await check(), await check(...ON, "4")];
  assertEquals([shards.code, shards.stdout], [1, alone.stdout]);
  assertMatch(shards.stdout, /^6 cases: 2 right, 2 failed, 2 unsupported\n$/);
  const failed = (text: string) =>
    text.split("\n").filter((line) => line.startsWith("FAIL ")).toSorted();
  assertEquals(failed(shards.stderr), failed(alone.stderr));
  const json = await check(...ON, "4", "--json");
  assertEquals(json.stdout.trim().split("\n").length, 6);
  const tuned = await program([
    ...["tune", "--suite", testdata("tunable_suite.ts"), "--backend", "cpu"],
    ...["--m", "2,8", ...kept, ...ON, "8"],
  ], own);
  assertEquals(tuned.code, 0, tuned.stderr);
  const list = await program(
    ["tune", "list", "--timing-cache", "timings.json"],
    own,
  );
  for (const text of [tuned.stdout, list.stdout]) {
    const found = text.split("\n").filter((line) => line.includes("STEP="))
      .map((line) =>
        `${/m=2|2×2×8/.test(line) ? 2 : 8} ${/STEP=\d/.exec(line)![0]}`
      );
    assertEquals(found.toSorted(), ["2 STEP=2", "8 STEP=3"], text);
  }
});

function mount(program: "mount" | "umount", folder: string): boolean {
  const args = program === "mount" ? ["-t", "tmpfs", "none"] : [];
  return new Deno.Command(program, { args: [...args, folder] })
    .outputSync().success;
}

/** Says why no file system can be mounted, as in most containers. */
function lackingMount(): string {
  using folder = temporary();
  if (!mount("mount", folder.path)) return " (ignored: nothing can be mounted)";
  mount("umount", folder.path);
  return "";
}

test("takes the program along to another file system", async (place) => {
  const elsewhere = join(place.folder, "mounted");
  Deno.mkdirSync(elsewhere);
  assert(mount("mount", elsewhere));
  try {
    const { code, stderr } = await program(
      wordsOf([...ON, "2"], 1).filter((word) => !/cache/.test(word)),
      { cwd: elsewhere, env: place.cluster.env },
    );
    assertEquals(code, 0, stderr);
    assertMatch(stderr, /Copied the program into .*\/program, as nodes may/);
    const rows = await readRows([join(elsewhere, "new")]);
    assertEquals(rows.length, 12);
    const left = [...Deno.readDirSync(join(elsewhere, ".runs/slurm"))];
    assertEquals(left.map(({ name }) => name), ["cache"]);
  } finally {
    mount("umount", elsewhere);
  }
}, why || lackingMount());
