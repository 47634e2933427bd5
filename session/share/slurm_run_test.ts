import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { temporary } from "../../bench/testdata/temporary.ts";
import { readIfThere } from "../../bench/files/disk.ts";
import { sbatchWords } from "./slurm_queue.ts";
import { type ArrayRun, filesOf, scriptOf } from "./slurm_run.ts";

const RUN: ArrayRun = {
  folder: ".runs/slurm/id",
  job: "mnkbench-id",
  count: 3,
  words: [],
  resources: {},
  hasRows: true,
};

/** Runs the script of shard 2 in `cwd`. @returns Its exit code. */
function shard(words: readonly string[], cwd: string): number {
  return new Deno.Command("bash", {
    args: ["-c", scriptOf({ ...RUN, words }, cwd)],
    env: { SLURM_ARRAY_TASK_ID: "2" },
  }).outputSync().code;
}

Deno.test({
  name:
    "scriptOf() gives the program its words, whatever they are, and keeps its exit code",
  ignore: Deno.build.os !== "linux",
  fn() {
    using place = temporary();
    const cwd = join(place.path, `it's "$(touch x)" \`touch x\`\n#;&`);
    Deno.mkdirSync(join(cwd, RUN.folder), { recursive: true });
    const { out, exit, log } = filesOf({ folder: join(cwd, RUN.folder) }, 2);
    const odd = [
      "a 'b'",
      "$(touch x)",
      "`touch x`",
      "two\nlines",
      "",
      "*",
      "\\",
    ];
    assertEquals(shard(["printf", "%s\\0", ...odd], cwd), 0);
    const files = filesOf(RUN, 2);
    assertEquals(readIfThere(out)!.split("\0").slice(0, -1), [
      ...[...odd, "--shard", "2/3", "--progress", files.progress],
      ...["--out", files.rows],
    ]);
    assertEquals(readIfThere(exit), "0\n");
    assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name), [".runs"]);
    // It has ended: another job does nothing.
    assertEquals(shard(["sh", "-c", "exit 7"], cwd), 0);
    Deno.removeSync(exit);
    assertEquals(shard(["sh", "-c", "echo said >&2; exit 7"], cwd), 7);
    assertEquals([readIfThere(exit), readIfThere(log)], ["7\n", "said\n"]);
    // It goes on in another job.
    Deno.removeSync(exit);
    assertEquals(shard(["sh", "-c", "kill -9 $$"], cwd), 137);
    assertEquals(readIfThere(exit), undefined);
  },
});

Deno.test("sbatchWords() names shards as ranges, and leaves to Slurm what nobody asked for", () => {
  const fixed = [
    ...["--parsable", "--requeue", "--job-name=mnkbench-id"],
    ...["--array=1-3,7,9-10", "--output=/dev/null", "--error=/dev/null"],
  ];
  const shards = [1, 2, 3, 7, 9, 10];
  assertEquals(sbatchWords(RUN, shards), [...fixed, ".runs/slurm/id/job.sh"]);
  const resources = { gres: "gpu:1", partition: "a b", time: "1:00" };
  assertEquals(sbatchWords({ ...RUN, resources }, shards), [
    ...[...fixed, "--partition=a b", "--gres=gpu:1", "--time=1:00"],
    ".runs/slurm/id/job.sh",
  ]);
});
