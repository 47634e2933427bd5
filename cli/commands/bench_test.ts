import { start, testdata, within } from "../testdata/program.ts";
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";

const SMALL = ["--suite", testdata("small_suite.ts"), "--backend", "cpu"];
const BRIEF = ["--warmup", "0", "--rep", "1"];

/** Waits; the program is another process. */
function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}

/** Lines of the file `name` in the folders of `folder`; 0 before it is there. */
function linesBelow(folder: string, name: string): number {
  try {
    return [...Deno.readDirSync(folder)]
      .map((entry) => Deno.readTextFileSync(join(folder, entry.name, name)))
      .join("").split("\n").length - 1;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/** The CSV of a suite below `folder`, as lines. */
async function csvOf(folder: string, suite = "small"): Promise<string[]> {
  const [device] = [...Deno.readDirSync(folder)];
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
    strictEqual(code, 0);
    strictEqual(
      stdout,
      `small  naive  cpu  m=2 n=2 k=8 epilogue=none  1 config
small  zeros  cpu  m=2 n=2 k=8 epilogue=none  1 config
small  picky  cpu  m=2 n=2 k=8 epilogue=none  unsupported: It was made for another machine
`,
    );
    deepStrictEqual([...Deno.readDirSync(folder)], []);
  }));

Deno.test("bench keeps right rows, shows a table on stdout, and talks on stderr", () =>
  within(async (run, folder) => {
    const { code, stdout, stderr } = await run(
      ...["bench", ...SMALL, ...BRIEF, "--kernel", "naive,picky"],
    );
    strictEqual(code, 0, stderr);
    const lines = stdout.trimEnd().split("\n");
    match(lines[0]!, /^small on /);
    match(lines[1]!, /^median µs +naive +picky$/);
    match(lines[2]!, /^2×2×8 +~?[\d.]+\* +unsupported$/);
    // Not the last line: a fast machine adds notes on rows near the launch overhead.
    match(stdout, /^ *picky unsupported at 4 shapes: It was made for/m);
    match(stderr, /^cpu: taken, /m);
    match(stderr, /^Wrote results\/.*small\.csv$/m);
    match(stderr, /^Next, /m);
    strictEqual((stdout + stderr).includes("\x1b"), false);
    strictEqual((await csvOf(join(folder, "results"))).length, 1 + 8);
    deepStrictEqual([...Deno.readDirSync(join(folder, ".runs"))], []);
  }));

Deno.test("bench ends with 1 for a wrong row, keeps it, and names a way to look at it", () =>
  within(async (run, folder) => {
    const { code, stdout, stderr } = await run(
      ...["bench", ...SMALL, ...BRIEF, "--m", "3", "--k", "8", "--out", "mine"],
    );
    strictEqual(code, 1, stderr);
    match(stdout, /wrong/);
    match(stderr, /^FAIL small zeros 3×3×8 nn epilogue=none: wrong, /m);
    match(
      stderr,
      /check --suite \/.*small_suite\.ts --backend cpu .*--kernel zeros --m 3 --n 3/,
    );
    strictEqual((await csvOf(join(folder, "mine"))).length, 1 + 3);
  }));

Deno.test("bench --json prints the rows as lines, and nothing else on stdout", () =>
  within(async (run) => {
    const { stdout } = await run(
      ...["bench", ...SMALL, ...BRIEF, "--quick", "--json"],
    );
    const rows: { kernel: string; status: string; median_us?: number }[] =
      stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    deepStrictEqual(rows.map(({ kernel, status }) => `${kernel} ${status}`), [
      "naive ok",
      "zeros wrong",
      "picky unsupported",
    ]);
    deepStrictEqual(rows.map((row) => row.median_us! > 0), [
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
    strictEqual(code, 0);
    const [head, row] = await csvOf(join(folder, "results"));
    const columns = head!.split(",");
    const fields = row!.split(",");
    strictEqual(fields[columns.indexOf("runs")], "2");
    ok(Number(fields[columns.indexOf("between_run_us")]) >= 0);
    ok(fields[columns.indexOf("between_run_us")] !== "");
  }));

Deno.test("bench goes on where Ctrl-C stopped it", () =>
  within(async (run, folder) => {
    const suite = ["--suite", testdata("gated_suite.ts"), "--backend", "cpu"];
    const args = ["bench", ...suite, ...BRIEF, "--timeout", "600"];
    const first = start(args, folder);
    const ended = first.output();
    // The first case has its row, and the second waits for as long as it takes.
    const journal = join(folder, ".runs");
    while (linesBelow(journal, "journal.csv") < 2) {
      const over = await Promise.race([ended, pause(20)]);
      strictEqual(over?.code, undefined, "It ended before it was stopped");
    }
    first.kill("SIGINT");
    const { code, stderr } = await ended;
    strictEqual(code, 1);
    match(
      text(stderr),
      /^Stopped with 1 rows kept: the same command goes on$/m,
    );
    await Deno.writeTextFile(join(folder, "open"), "");
    const second = await run(...args);
    strictEqual(second.code, 0, second.stderr);
    match(second.stderr, /^Going on with the run of .*: 1 rows are there/m);
    const lines = await csvOf(join(folder, "results"), "gated");
    strictEqual(lines.length, 1 + 2);
    strictEqual(new Set(lines).size, lines.length);
  }));

Deno.test("bench --once runs one case here, and refuses more", () =>
  within(async (run, folder) => {
    const one = ["bench", ...SMALL, "--quick", "--once", "--kernel"];
    const right = await run(...one, "naive");
    deepStrictEqual(
      [right.code, right.stdout],
      [0, "small naive 2×2×8 nn epilogue=none: checked\n"],
    );
    const wrong = await run(...one, "zeros");
    strictEqual(wrong.code, 1);
    match(wrong.stderr, /^FAIL small zeros .*: wrong, /m);
    const many = await run(...one, "naive,zeros");
    strictEqual(many.code, 2);
    match(many.stderr, /^error: Cannot run 2 cases with --once/m);
    deepStrictEqual([...Deno.readDirSync(folder)], []);
  }));

Deno.test("bench ends with 3 where nothing can run", () =>
  within(async (run) => {
    const resumed = await run("bench", ...SMALL, "--quick", "--resume");
    strictEqual(resumed.code, 3, resumed.stderr);
    match(resumed.stderr, /^error: No unfinished run of this command is here/m);
    const absent = await run("bench", ...SMALL, "--device", "99");
    strictEqual(absent.code, 3);
    match(absent.stderr, /^error: No usable device: cpu: no device 99/m);
  }));

Deno.test("check counts what is right, and keeps nothing", () =>
  within(async (run, folder) => {
    const sized = ["check", ...SMALL, "--m", "3", "--k", "8", "--kernel"];
    const right = await run(...sized, "naive,picky");
    deepStrictEqual(
      [right.code, right.stdout],
      [0, "2 cases: 1 right, 0 failed, 1 unsupported\n"],
    );
    match(right.stderr, /^ {2}picky unsupported at 3×3×8 .*: It was made for/m);
    const wrong = await run(...sized, "zeros");
    deepStrictEqual(
      [wrong.code, wrong.stdout],
      [1, "1 case: 0 right, 1 failed, 0 unsupported\n"],
    );
    match(wrong.stderr, /^FAIL small zeros /m);
    deepStrictEqual([...Deno.readDirSync(folder)], []);
  }));

Deno.test("doctor says what works, in JSON if asked", () =>
  within(async (run) => {
    const { code, stdout } = await run("doctor");
    // A GPU that is there and does not work is a failure; one that is not there is none.
    const gpus = (state: string) =>
      new RegExp(`^${state} (cuda|hip|metal): `, "m").test(stdout);
    strictEqual(code, gpus("FAIL") && !gpus("PASS") ? 1 : 0);
    match(stdout, /^PASS cpu: /m);
    match(stdout, /^(PASS|FAIL|SKIP) cuda: /m);
    match(stdout, /^(PASS|FAIL|SKIP) peers torch: /m);
    if (Deno.build.os === "linux") {
      match(stdout, /^SKIP metal: Metal is for macOS, and this is linux$/m);
    }
    const findings: { what: string; ok: boolean }[] = JSON.parse(
      (await run("doctor", "--json")).stdout,
    );
    strictEqual(findings.find(({ what }) => what === "cpu")?.ok, true);
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
  strictEqual(code, 2, stderr);
  strictEqual(stdout, "");
  match(stderr, /^(cpu: taken, .*\n)?error: .*\n$/);
  match(stderr, why);
}

Deno.test("bench refuses old results that it could not add to, before it measures", () =>
  within(async (run, folder) => {
    strictEqual((await run(...NAIVE, "--out", "out")).code, 0);
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
    strictEqual([...Deno.readDirSync(join(folder, ".runs"))].length, 0);
  }));

Deno.test("bench says in one line that its timings cannot be looked at", () =>
  within(async (run, folder) => {
    Deno.writeTextFileSync(join(folder, "file"), "");
    refused(
      await run(...NAIVE, "--timing-cache", join("file", "timings.json")),
      /Cannot read .*file\/timings\.json: Not a directory/,
    );
  }));
