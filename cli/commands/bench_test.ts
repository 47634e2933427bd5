import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  command,
  lacking,
  start,
  testdata,
  within,
} from "../testdata/program.ts";
import { join } from "node:path";
import { readIfThere, unlessMissing } from "../../bench/files/disk.ts";
import { LATEST } from "../../session/home.ts";
import { shardsIn } from "../../session/share/shards.ts";
import { sourceVersion } from "../../session/commit.ts";

const SMALL = ["--suite", testdata("small_suite.ts"), "--backend", "cpu"];
const BRIEF = ["--warmup", "0", "--rep", "1"];

/** Waits; the program is another process. */
function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}

/** Lines of the file `name` in the folders of `folder`; 0 before it is there. */
function linesBelow(folder: string, name: string): number {
  const folders = unlessMissing(() => [...Deno.readDirSync(folder)]) ?? [];
  const lines = folders.flatMap((entry) =>
    readIfThere(join(folder, entry.name, name))?.split("\n").slice(0, -1) ?? []
  );
  return lines.length;
}

/** The CSV of a suite below `folder`, as lines. */
async function csvOf(folder: string, suite = "small"): Promise<string[]> {
  const device = [...Deno.readDirSync(folder)]
    .find(({ isDirectory }) => isDirectory);
  const file = join(folder, device!.name, `${suite}.csv`);
  return (await Deno.readTextFile(file)).trimEnd().split("\n");
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

Deno.test("bench --dry-run prints the cases, and runs and writes nothing", () =>
  within(async (run, folder) => {
    const { code, stdout } = await run(
      "bench",
      ...SMALL,
      "--quick",
      "--dry-run",
    );
    assertEquals(code, 0);
    assertEquals(
      stdout,
      `small  naive  cpu  m=2 n=2 k=8 type=f32 epilogue=none layout=nn  1 config
small  zeros  cpu  m=2 n=2 k=8 type=f32 epilogue=none layout=nn  1 config
small  picky  cpu  m=2 n=2 k=8 type=f32 epilogue=none layout=nn  unsupported: It was made for another machine
`,
    );
    assertEquals([...Deno.readDirSync(folder)], []);
  }));

Deno.test("bench --dry-run prints the cases of a device that is not here", () =>
  within(async (run) => {
    const backend = Deno.build.os === "darwin" ? "cuda" : "metal";
    const { code, stdout, stderr } = await run(
      ...["bench", "--suite", "matmul-fp32", "--backend", backend],
      ...["--m", "16", "--k", "8192", "--kernel", "decompose-k", "--dry-run"],
    );
    assertEquals(code, 0, stderr);
    assertEquals(
      stdout,
      `matmul-fp32  decompose-k  ${backend}  m=16 n=16 k=8192 type=f32 epilogue=none layout=nn  configs unknown\n`,
    );
    assertMatch(stderr, /^No usable device: .*\n1 case; nothing was run\n$/);
  }));

Deno.test("bench keeps right rows, shows a table on stdout, and talks on stderr", () =>
  within(async (run, folder) => {
    const { code, stdout, stderr } = await run(
      ...["bench", ...SMALL, ...BRIEF, "--kernel", "naive,picky"],
    );
    assertEquals(code, 0, stderr);
    const lines = stdout.trimEnd().split("\n");
    assertMatch(lines[0]!, /^small on /);
    assertMatch(lines[1]!, /^median µs +naive$/);
    assertMatch(lines[2]!, /^2×2×8 +~?[\d.]+( +±\d+%)?$/);
    // Not the last line: a fast machine adds notes on rows near the launch overhead.
    assertMatch(
      stdout,
      /^ *picky: unsupported at every shape: It was made for/m,
    );
    assertMatch(stderr, /^Using cpu: /m);
    assertMatch(stderr, /^Wrote \.runs\/latest\/.*small\.csv$/m);
    assertMatch(stderr, /^Next, /m);
    assertEquals((stdout + stderr).includes("\x1b"), false);
    assertEquals((await csvOf(join(folder, LATEST))).length, 1 + 8);
    assertEquals(
      [...Deno.readDirSync(join(folder, ".runs"))].map(({ name }) => name),
      ["latest"],
    );
  }));

Deno.test("bench ends with 1 for a wrong row, keeps it, and names a way to look at it", () =>
  within(async (run, folder) => {
    const { code, stdout, stderr } = await run(
      ...["bench", ...SMALL, ...BRIEF, "--m", "3", "--k", "8", "--out", "mine"],
    );
    assertEquals(code, 1, stderr);
    // Its note is below the table, and nowhere else.
    assertMatch(stdout, /^ *zeros wrong at 3×3×8: C: 9 of 9 elements/m);
    assertMatch(stderr, /^FAIL small zeros 3×3×8 nn epilogue=none: wrong$/m);
    assertMatch(
      stderr,
      /check --suite \/.*small_suite\.ts --backend cpu .*--kernel zeros --m 3 --n 3/,
    );
    assertEquals((await csvOf(join(folder, "mine"))).length, 1 + 3);
  }));

Deno.test("bench --json prints the rows as lines, and nothing else on stdout", () =>
  within(async (run) => {
    const { stdout } = await run(
      ...["bench", ...SMALL, ...BRIEF, "--quick", "--json"],
    );
    const rows: { kernel: string; status: string; median_us?: number }[] =
      stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(rows.map(({ kernel, status }) => `${kernel} ${status}`), [
      "naive ok",
      "zeros wrong",
      "picky unsupported",
    ]);
    assertEquals(rows.map((row) => row.median_us! > 0), [
      true,
      false,
      false,
    ]);
  }));

Deno.test("bench --runs stores the spread between fresh workers", () =>
  within(async (run, folder) => {
    const { code } = await run(
      ...["bench", ...SMALL, ...BRIEF, "--quick", "--kernel", "naive"],
      ...["--runs", "2"],
    );
    assertEquals(code, 0);
    const [head, row] = await csvOf(join(folder, LATEST));
    const columns = head!.split(",");
    const fields = row!.split(",");
    assertEquals(fields[columns.indexOf("runs")], "2");
    assert(Number(fields[columns.indexOf("between_run_us")]) >= 0);
    assert(fields[columns.indexOf("between_run_us")] !== "");
    const of = (column: string) => fields[columns.indexOf(column)]!;
    assertMatch(of("run"), /^[0-9a-f]{12}-[0-9a-f]{8}$/);
    const { commit, dirty } = await sourceVersion();
    assertEquals([of("commit"), of("dirty")], [commit, dirty]);
  }));

Deno.test("bench stores the commit of the repository that has the suite file", () =>
  within(async (run, folder) => {
    const suite = await Deno.readTextFile(testdata("small_suite.ts"));
    await Deno.writeTextFile(join(folder, "suite.ts"), suite);
    const git = async (...args: string[]) => {
      const who = ["-c", "user.name=n", "-c", "user.email=n@n"];
      const { success, stdout, stderr } = await new Deno.Command("git", {
        args: ["-C", folder, ...who, ...args],
      }).output();
      assert(success, text(stderr));
      return text(stdout).trim();
    };
    await git("init", "--quiet");
    await git("add", "suite.ts");
    await git("commit", "--quiet", "--message", "one");
    const { code, stderr } = await run(
      ...["bench", "--suite", "./suite.ts", "--backend", "cpu", ...BRIEF],
      ...["--quick", "--kernel", "naive"],
    );
    assertEquals(code, 0, stderr);
    const [head, row] = await csvOf(join(folder, LATEST));
    const at = head!.split(",").indexOf("source_commit");
    assertEquals(
      row!.split(",")[at],
      await git("rev-parse", "--short=12", "HEAD"),
    );
  }));

/** A suite whose second kernel waits for a file named `open` in the folder it runs in. */
const GATED =
  `import { defineKernel, defineSuite, kernels, matmul } from "mnkbench";

const naive = kernels.find(({ name }) => name === "naive")!;

const gated = defineKernel(matmul, {
  name: "gated",
  backend: "cpu",
  idea: "waits for a file",
  prepare(context) {
    const word = new Int32Array(new SharedArrayBuffer(4));
    while (![...Deno.readDirSync(".")].some(({ name }) => name === "open")) {
      Atomics.wait(word, 0, 0, 20);
    }
    return naive.prepare(context);
  },
});

export default defineSuite({
  name: "gated",
  title: "a small product, and a wait",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [naive, gated],
  baselines: ["naive"],
});
`;

for (
  const [what, signal, stopped] of [
    ["Ctrl-C", "SIGINT", 128 + 2],
    ["SIGTERM", "SIGTERM", 128 + 15],
  ] as const
) {
  Deno.test(`bench goes on where ${what} stopped it`, () =>
    within(async (run, folder) => {
      await Deno.writeTextFile(join(folder, "gated.ts"), GATED);
      const suite = ["--suite", "./gated.ts", "--backend", "cpu"];
      const args = ["bench", ...suite, ...BRIEF, "--timeout", "600"];
      const first = start(args, folder);
      const ended = first.output();
      // The first case has its row, and the second waits for as long as it takes.
      const journal = join(folder, ".runs");
      while (linesBelow(journal, "journal.jsonl") < 1) {
        const over = await Promise.race([ended, pause(20)]);
        assertEquals(over?.code, undefined, "It ended before it was stopped");
      }
      // Once by the terminal, and once more by each program in between.
      first.kill(signal);
      await pause(10);
      try {
        first.kill(signal);
      } catch (error) {
        // It may have ended.
        if (!(error instanceof TypeError)) throw error;
      }
      const { code, stderr } = await ended;
      assertEquals(code, stopped);
      assertMatch(
        text(stderr),
        /^Wrote .*gated\.csv\nStopped with 1 row kept: the same command continues$/m,
      );
      assertEquals((await csvOf(join(folder, LATEST), "gated")).length, 1 + 1);
      await Deno.writeTextFile(join(folder, "open"), "");
      const second = await run(...args);
      assertEquals(second.code, 0, second.stderr);
      assertMatch(
        second.stderr,
        /^Continuing the run of .*, which has 1 row;/m,
      );
      const lines = await csvOf(join(folder, LATEST), "gated");
      assertEquals(lines.length, 1 + 2);
      assertEquals(new Set(lines).size, lines.length);
    }));
}

Deno.test({
  name: "bench stops where npx has ended, which tells it nothing",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    within(async (_, folder) => {
      await Deno.writeTextFile(join(folder, "gated.ts"), GATED);
      // A shell by the name of npm's process, which waits for what it starts as npm does.
      const npm = join(folder, "npm exec");
      await Deno.copyFile("/bin/sh", npm);
      const bench = command([
        ...["bench", "--suite", "./gated.ts", "--backend", "cpu", ...BRIEF],
      ]);
      const npx = new Deno.Command(npm, {
        args: ["-c", '"$@"; true', "npm", ...bench],
        cwd: folder,
        env: { npm_command: "exec" },
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      // The output ends with the last process that has it, not with npx.
      const ended = npx.output();
      while (linesBelow(join(folder, ".runs"), "journal.jsonl") < 1) {
        const over = await Promise.race([ended, pause(20)]);
        assertEquals(over?.code, undefined, "It ended before it was stopped");
      }
      npx.kill("SIGTERM");
      assertMatch(text((await ended).stderr), /^Stopped with 1 row kept: /m);
    }),
});

Deno.test("bench and check end with 3 where no own kernel of a suite file ran", () =>
  within(async (run, folder) => {
    const file = join(folder, "mine.ts");
    const text = (unsupported: string) =>
      `import { defineKernel, defineSuite, kernels, matmul } from "mnkbench";
const mine = defineKernel(matmul, {
  name: "mine",
  backend: "cpu",
  idea: "for another machine",
  unsupported: () => ${unsupported},
  prepare: (context) => kernels[0].prepare(context),
});
export default defineSuite({
  name: "own",
  title: "a kernel of one's own",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [...kernels.filter(({ name, backend }) =>
    name === "naive" && backend === "cpu"), mine],
  baselines: ["naive"],
});
`;
    await Deno.writeTextFile(file, text('"It was made for another machine"'));
    const only = ["--suite", file, "--m", "2", "--k", "8"];
    const timed = await run("bench", ...only, ...BRIEF);
    const checked = await run("check", ...only);
    for (const { code, stderr } of [timed, checked]) {
      assertEquals(code, 3, stderr);
      assertMatch(
        stderr,
        /^Of the suite own no kernel of its own takes these points: mine \(cpu\), It was made for another machine; choose others with --m, /m,
      );
    }
    // Asked for by name.
    const named = await run("check", ...only, "--backend", "cpu");
    assertEquals(named.code, 0, named.stderr);
    const chosen = await run("check", ...only, "--kernel", "naive");
    assertEquals(chosen.code, 0, chosen.stderr);
  }));

Deno.test("bench refuses graphs on a device without any before anything else", () =>
  within(async (run, folder) => {
    for (const name of ["bench", "tune"]) {
      const { code, stdout, stderr } = await run(
        ...[name, ...SMALL, "--quick", "--timer", "graph"],
      );
      assertEquals([code, stdout, stderr], [
        2,
        "",
        "error: cpu has no graphs: time with --timer do_bench or --timer batch:N\n",
      ]);
    }
    assertEquals([...Deno.readDirSync(folder)], []);
  }));

Deno.test("bench shows verdicts against the recorded rows, and --record replaces these", () =>
  within(async (run, folder) => {
    const first = await run(...NAIVE, "--record");
    assertEquals(first.code, 0, first.stderr);
    assertMatch(
      first.stdout,
      /^results\/.*small\.csv: 1 row measured, 0 kept.*\n {2}new: .*\nrecorded in results/m,
    );
    const [head, row] = await csvOf(join(folder, "results"));
    const names = head!.split(",");
    const columns = row!.split(",");
    // A second: what is measured now is faster by far.
    for (const name of ["median_us", "q1_us", "q3_us", "min_us", "mean_us"]) {
      columns[names.indexOf(name)] = "1000000";
    }
    for (const name of ["tflops", "gbps", "run"]) {
      columns[names.indexOf(name)] = "";
    }
    const [device] = [...Deno.readDirSync(join(folder, "results"))];
    const csv = join("results", device!.name, "small.csv");
    const slow = `${head}\n${columns.join(",")}\n`;
    await Deno.writeTextFile(join(folder, csv), slow);

    // Of the two cases one is recorded.
    const again = await run(...NAIVE, "--m", "2,3");
    assertEquals(again.code, 0, again.stderr);
    assertMatch(
      again.stdout,
      /^Against results\/.*small\.csv, which has 1 of these cases:\n {2}faster +small naive 2×2×8 /m,
    );
    assertEquals(await Deno.readTextFile(join(folder, csv)), slow);
    const diff = await run("diff");
    assertEquals(diff.code, 0, diff.stderr);
    assertMatch(diff.stdout, /^faster /m);
    assertMatch(diff.stdout, /0 missing,.* 1 new,.* 1 faster/);
    assertMatch(diff.stderr, /^Rows of \.runs\/latest against .* results$/m);

    const elsewhere = await run(...NAIVE, "--out", "new");
    assertEquals(/Against/.test(elsewhere.stdout), false);
    const recorded = await run(...NAIVE, "--record", "--json");
    assertEquals(recorded.stdout.split("\n").length, 2, recorded.stdout);
    assertMatch(recorded.stderr, /^ {2}faster +small naive 2×2×8 /m);
    // The other case was of an earlier run.
    const lines = await csvOf(join(folder, "results"));
    assertEquals(lines.length, 2);
    assert(
      Number(lines[1]!.split(",")[names.indexOf("median_us")]) < 1_000_000,
    );
    assertEquals((await csvOf(join(folder, LATEST))).length, 3);

    const table = await run("table");
    assertMatch(table.stderr, /^Rows of \.runs\/latest$/m);
    assertMatch(table.stdout, /^3×3×8 /m);
    await Deno.remove(join(folder, LATEST, device!.name), { recursive: true });
    const none = await run("diff");
    assertEquals(none.code, 3);
    assertMatch(none.stderr, /^error: Cannot compare: no row is in \.runs\/l/);
    const one = await run("diff", "results");
    assertEquals(one.code, 2);
    assertMatch(one.stderr, /^error: Cannot compare results alone: give the/);
    const whole = await run("table");
    assertMatch(whole.stderr, /^Rows of results$/m);
    assertEquals(/^3×3×8 /m.test(whole.stdout), false);
  }));

Deno.test("bench --record refuses recorded rows that it could not add to, before it measures", () =>
  within(async (run, folder) => {
    assertEquals((await run(...NAIVE, "--record")).code, 0);
    const [device] = [...Deno.readDirSync(join(folder, "results"))];
    await Deno.writeTextFile(
      join(folder, "results", device!.name, "small.csv"),
      "no CSV",
    );
    refused(
      await run(...NAIVE, "--record"),
      /Cannot read results\/.*small\.csv: line 1/,
    );
    // Without --record they are in nobody's way.
    const { code, stderr } = await run(...NAIVE);
    assertEquals(code, 0);
    assertMatch(stderr, /^No verdicts: Cannot read results\/.*small\.csv/m);
    refused(await run(...NAIVE, "--record", "--out", "new"), /leave out --rec/);
  }));

/** A source file as a user has one; nothing runs it. */
const MINE =
  "void mine(const float *A, const float *B, float *C, int M, int N, int K) {}\n";

Deno.test("bench --once runs one case here, and refuses more", () =>
  within(async (run, folder) => {
    const one = ["bench", ...SMALL, "--quick", "--once", "--kernel"];
    const right = await run(...one, "naive");
    assertEquals(
      [right.code, right.stdout],
      [0, "small naive 2×2×8 nn epilogue=none: checked\n"],
    );
    const wrong = await run(...one, "zeros");
    assertEquals(wrong.code, 1);
    assertMatch(wrong.stderr, /^FAIL small zeros .*: wrong, /m);
    const many = await run(...one, "naive,zeros");
    assertEquals(many.code, 2);
    assertMatch(many.stderr, /^error: Cannot run 2 cases with --once/m);
    await Deno.writeTextFile(join(folder, "mine.c"), MINE);
    const file = ["bench", "mine.c", "--once"];
    const sizes = await run(...file);
    assertEquals(sizes.code, 2);
    assertMatch(sizes.stderr, /^error: Cannot run 3 cases with --once/m);
    // Of the kernels beside it none is meant.
    const mine = await run(...file, "--m", "16");
    assertEquals(mine.code, 1);
    assertMatch(mine.stderr, /^FAIL mine\.c mine 16×16×16 .*: wrong, /m);
    const named = await run(...file, "--m", "16", "--kernel", "naive");
    assertEquals([named.code, named.stderr.includes("FAIL")], [0, false]);
    await Deno.remove(join(folder, "mine.c"));
    assertEquals([...Deno.readDirSync(folder)], []);
  }));

Deno.test("bench ends with 3 where nothing can run", () =>
  within(async (run) => {
    const resumed = await run("bench", ...SMALL, "--quick", "--resume");
    assertEquals(resumed.code, 3, resumed.stderr);
    assertMatch(
      resumed.stderr,
      /^error: No unfinished run of this command is here/m,
    );
    const absent = await run("bench", ...SMALL, "--device", "99");
    assertEquals(absent.code, 3);
    assertMatch(absent.stderr, /^error: No usable device: cpu: no device 99/m);
  }));

const NAIVE = [
  ...["bench", ...SMALL, ...BRIEF],
  ...["--kernel", "naive", "--quick"],
];

/** The line, after what was selected, with which a run was refused that measured nothing. */
function refused(
  { code, stdout, stderr }: { code: number; stdout: string; stderr: string },
  why: RegExp,
): void {
  assertEquals(code, 2, stderr);
  assertEquals(stdout, "");
  assertMatch(stderr, /^(Using cpu: .*\n)?error: .*\n$/);
  assertMatch(stderr, why);
}

Deno.test("bench refuses old results that it could not add to, before it measures", () =>
  within(async (run, folder) => {
    assertEquals((await run(...NAIVE, "--out", "out")).code, 0);
    const [device] = [...Deno.readDirSync(join(folder, "out"))];
    const csv = join(folder, "out", device!.name, "small.csv");
    const whole = Deno.readTextFileSync(csv);
    Deno.writeTextFileSync(csv, whole.replace(",ok,,", ",ok,,-"));
    refused(
      await run(...NAIVE, "--out", "out"),
      /Cannot read out\/.*small\.csv: line 2, column median_us is "-.*it must be a time/,
    );
    Deno.writeTextFileSync(csv, whole);
    Deno.writeTextFileSync(join(csv, "..", "device.json"), "null");
    refused(
      await run(...NAIVE, "--out", "out"),
      /Cannot read out\/.*device\.json: it is null: it must be an object/,
    );
    // A run that was stopped would be here; none was begun.
    assertEquals([...Deno.readDirSync(join(folder, ".runs"))].length, 0);
  }));

Deno.test("bench says in one line that its timings cannot be looked at", () =>
  within(async (run, folder) => {
    Deno.writeTextFileSync(join(folder, "file"), "");
    refused(
      await run(...NAIVE, "--timing-cache", join("file", "timings.json")),
      /Cannot read .*file\/timings\.json: Not a directory/,
    );
  }));

Deno.test({
  name: `bench FILE measures a C kernel beside the baselines${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (run, folder) => {
      await Deno.writeTextFile(
        `${folder}/mine.c`,
        `void mine(const float *A, const float *B, float *C, int M, int N, int K) {
           for (int i = 0; i < M * N; i++) {
             float sum = 0;
             for (int k = 0; k < K; k++) sum += A[i / N * K + k] * B[k * N + i % N];
             C[i] = sum;
           }
         }`,
      );
      const { code, stdout, stderr } = await run(
        ...["bench", "mine.c", "--m", "8", "--json", ...BRIEF],
      );
      assertEquals(code, 0, stderr);
      const rows = stdout.trim().split("\n").map((line) => JSON.parse(line));
      const kernels = rows.map(({ kernel }) => kernel);
      assert(kernels.includes("mine") && kernels.includes("naive"), stdout);
      assertMatch(
        stderr,
        /^mine\.c: mine\(A, B, C, m, n, k\) is a matmul in f32$/m,
      );
      const again = await run("bench", "mine.c", "--m", "8", ...BRIEF);
      assertMatch(
        again.stderr,
        /^Next, a size of your own: mnkbench bench \S+mine\.c --backend cpu (--no-timing-cache )?--m 24$/m,
      );
      const both = await run("bench", "mine.c", "--suite", "matmul-fp32");
      assertMatch(both.stderr, /^error: Cannot take both mine\.c and --suite/);
      const suite = await run("bench", "matmul-fp32");
      assertMatch(
        suite.stderr,
        /name a built-in suite with --suite matmul-fp32/,
      );
      const unknown = await run("bench", "mine.c", "--kernel", "foo");
      assertMatch(
        unknown.stderr,
        /^error: No kernel is named foo: there are openblas, naive, blocked, decompose-k, mine$/m,
      );
      const lone = await run("bench", "--grid", "n");
      assertMatch(lone.stderr, /^error: --grid is of a kernel file: name one/);
      const named = await run(
        ...["bench", "--suite", "mine.c", "--entry", "other"],
      );
      assertMatch(named.stderr, /^error: .*mine\.c.*other/);
      const two = await run(
        ...["bench", "--suite", "mine.c,other.c", "--entry", "mine"],
      );
      assertMatch(
        two.stderr,
        /^error: --entry is of a kernel file: run each of mine\.c,other\.c by itself$/m,
      );
      const empty = await run("bench", "");
      assertMatch(empty.stderr, /^error: Cannot use an empty name: name a \.c/);
      const twice = await run("bench", "mine.c?entry=mine", "--entry=mine");
      assertMatch(twice.stderr, /source file mine\.c: entry is set twice$/m);
      const values = ["--entry=a&type=bf16", "--block=16&grid=3", "--grid="];
      for (const option of values) {
        const { stderr } = await run("bench", "mine.c", option);
        assertMatch(stderr, /^error: Cannot take --(?:entry|block|grid) "/);
      }
    }),
});

Deno.test("bench --shard runs its part alone, and leaves a file that says so", () =>
  within(async (run, folder) => {
    const shown = async (shard: string) => {
      const { stdout } = await run(
        ...["bench", ...SMALL, "--shard", shard, "--dry-run"],
      );
      return stdout.trimEnd().split("\n");
    };
    const [one, two] = [await shown("1/2"), await shown("2/2")];
    assertEquals(new Set([...one, ...two]).size, 12);
    const refused = await run("bench", ...SMALL, "--shard", "1/2");
    assertEquals(refused.code, 2);
    assertMatch(refused.stderr, /a folder for them with --out, such as new/);
    const quick = ["--quick", "--kernel", "naive", "--out", "new"];
    const none = await run("bench", ...SMALL, "--shard", "2/2", ...quick);
    assertEquals(none.code, 3);
    assertMatch(none.stderr, /Nothing to run: shard 2\/2 has no case/);
    const { code } = await run(
      ...["bench", ...SMALL, ...BRIEF, "--shard", "1/2", ...quick],
    );
    assertEquals(code, 0);
    const [shard] = shardsIn(`${folder}/new`);
    assertEquals(shard!.counts, [1, 0]);
    const [header, row] = await csvOf(join(folder, "new"));
    const at = header!.split(",").indexOf("run");
    assertEquals(row!.split(",")[at], shard!.run);
  }));

const MODELS =
  `import { defineKernel, defineSuite, kernels, matmul } from "mnkbench";

const naive = kernels.find(({ name }) => name === "naive");
const modelled = (name, us) =>
  defineKernel(matmul, {
    name,
    backend: "cpu",
    idea: "the plain one, and a time that it says",
    configs: () => [{ STEP: 1 }, { STEP: 2 }],
    predict: (_, { STEP }) => us / STEP,
    prepare: (context) => naive.prepare(context),
  });

export default defineSuite({
  name: "modelled",
  title: "kernels with models",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [modelled("slow", 9), modelled("quick", 5)],
  baselines: ["slow"],
});
`;

Deno.test({
  name: `bench --kernel auto times what the models put first${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (run, folder) => {
      await Deno.writeTextFile(join(folder, "modelled.js"), MODELS);
      const suite = ["--suite", "./modelled.js", "--backend", "cpu"];
      const auto = [...suite, "--kernel", "auto"];
      const { code, stdout, stderr } = await run(
        ...["bench", ...auto, ...BRIEF, "--level", "5", "--json"],
      );
      assertEquals(code, 0, stderr);
      const { kernel, config, config_by, status, search_configs } = JSON.parse(
        stdout.trim().split("\n")[0]!,
      );
      assertEquals(
        [kernel, config, config_by, status, search_configs],
        ["auto", "kernel=quick STEP=2", "model", "ok", 0],
      );
      const table = await run("table", ".runs/latest");
      assertMatch(table.stdout, /auto/);
      // No run has it unasked.
      const all = await run("list", ...suite.slice(0, 2));
      assertEquals(all.stdout.includes("auto"), false);
      const none = ["--suite", "matmul-fp32", "--quick", "--backend", "cpu"];
      const other = await run("check", ...none, "--kernel", "auto");
      assertMatch(
        other.stdout + other.stderr,
        /auto unsupported .*: No kernel of matmul that runs here has a recorded row on \S+ or a model: name a kernel/,
      );
    }),
});

/** A suite whose kernel has `fields` besides what it needs. */
function suiteWith(fields: string): string {
  return `import { defineKernel, defineSuite, kernels, matmul } from "mnkbench";

const { prepare } = kernels.find(({ name, backend }) =>
  name === "naive" && backend === "cpu"
)!;
const idea = "the reference, and functions of its own";

export default defineSuite({
  name: "asked",
  title: "a small product",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [
    defineKernel(matmul, {
      name: "own",
      backend: "cpu",
      idea,
      prepare,
      ${fields}
    }),
  ],
  baselines: [],
});
`;
}

const ASKED = ["--suite", "./asked.ts", "--backend", "cpu"];

Deno.test("bench is ended by SIGTERM while a function of a kernel loops", () =>
  within(async (_, folder) => {
    const loop = `unsupported() { console.error("asked"); while (true); }`;
    await Deno.writeTextFile(join(folder, "asked.ts"), suiteWith(loop));
    const child = start(["bench", ...ASKED, ...BRIEF], folder);
    let said = "";
    for await (const bytes of child.stderr) {
      said += text(bytes);
      if (said.includes("asked\n")) break;
    }
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
    const { signal } = await child.status;
    clearTimeout(late);
    await child.stdout.cancel();
    assertEquals(signal, "SIGTERM", said);
  }));

for (
  const [functions, fields] of [
    ["unsupported()", `unsupported() { throw new Error("spoilt"); },`],
    ["rules, configs() or predict()", `configs() { throw "spoilt"; },`],
  ] as const
) {
  Deno.test(`bench --dry-run names a kernel whose ${functions} fails`, () =>
    within(async (run, folder) => {
      await Deno.writeTextFile(join(folder, "asked.ts"), suiteWith(fields));
      const { code, stderr } = await run("bench", ...ASKED, "--dry-run");
      assertEquals(code, 2, stderr);
      const lines = stderr.trimEnd().split("\n");
      assertEquals(
        lines.filter((line) => line.startsWith("error: ")).map((line) =>
          line.replace("Error: spoilt", "spoilt")
        ),
        [
          `error: Cannot ask ${functions} of the kernel own in the suite asked: spoilt`,
        ],
      );
    }));
}

Deno.test("bench goes on where PATH has no program", () =>
  within(async (_, folder) => {
    const child = start(["bench", ...SMALL, ...BRIEF, "--m", "2"], folder, {
      env: { PATH: "/nowhere" },
    });
    const { stderr } = await child.output();
    assertMatch(text(stderr), /^Wrote .*small\.csv$/m);
    assertEquals(/report the command|^error: /m.test(text(stderr)), false);
  }));
