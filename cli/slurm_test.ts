import { assertEquals, assertMatch } from "@std/assert";
import { temporary } from "../bench/testdata/temporary.ts";
import { program, testdata } from "./testdata/program.ts";

const ON = ["--on", "slurm", "--array"];

Deno.test("--on slurm without Slurm says so in one line, and measures nothing", async () => {
  using place = temporary();
  const bench = (...more: string[]) =>
    program([
      ...["bench", "--suite", testdata("small_suite.ts"), "--backend", "cpu"],
      ...["--out", "new", ...more],
    ], { cwd: place.path, env: { PATH: place.path } });
  const { code, stdout, stderr } = await bench(...ON, "2");
  assertEquals([code, stdout], [2, ""]);
  assertMatch(stderr, /error: Cannot reach Slurm: squeue cannot be run.*PATH/);
  const lone = await bench("--array", "2");
  assertEquals(lone.code, 2);
  assertMatch(lone.stderr, /--array is of jobs on a cluster: add --on slurm/);
  const none = await bench("--on", "slurm");
  assertEquals(none.code, 2);
  assertMatch(none.stderr, /give --array, as in --array 16/);
  const printed = await bench(...ON, "2", "--print");
  assertEquals(printed.code, 0);
  assertMatch(printed.stdout, /^#!\/bin\/bash\n/);
  assertMatch(printed.stderr, /Not submitted: sbatch .*--array=1-2 /);
});
