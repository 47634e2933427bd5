import { join } from "node:path";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { writeCsv } from "../../bench/row/csv.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { SOURCE, SUITE } from "../testdata/planted.ts";
import { lacking, program, start } from "../testdata/program.ts";
import { PROGRAM, Repository } from "../testdata/repository.ts";
import { benchArgs } from "./compare/bench_args.ts";

const failed = { median_us: "", q1_us: "", q3_us: "", min_us: "", mean_us: "" };
const wide = { median_us: "20", q1_us: "0.1", q3_us: "500" };
const slow = { median_us: "20", q1_us: "19.9", q3_us: "20.1" };

Deno.test("compare BASE..HEAD measures both commits by their own programs, in turns", async () => {
  using repository = new Repository();
  repository.build("old", [{}, { kernel: "gone" }]);
  repository.build("new", [slow, { kernel: "added" }]);
  const { code, stdout, stderr } = await repository.compare(
    ...["old..HEAD", "--quick", "--runs", "2", "--format=json"],
  );
  // Missing rows weigh more than slower ones.
  assertEquals(code, 3, stderr);
  const { rows } = JSON.parse(stdout);
  assertEquals(
    rows.map((row: { verdict: string }) => row.verdict),
    ["missing", "slower", "new"],
  );
  assertMatch(
    stderr,
    /^2 rounds; standard deviation between rounds, .* in old [\da-f]{12}, /m,
  );
  const calls = repository.calls();
  assertEquals(
    calls.map(([cwd]) => cwd!.split("/").at(-1)),
    ["base", "next", "next", "base"],
  );
  const [, command, ...args] = calls[0]!;
  assertEquals([command, ...args.slice(0, 1)], ["bench", "--quick"]);
  assertEquals(args.slice(3, 6), ["--runs", "1", "--fresh"]);
  const caches = calls.map((call) => call.at(-1));
  assertEquals(new Set(caches).size, 2);
  assertMatch(caches[0]!, /commits\/[\da-f]{40}$/);
  // What both build alike has one config.
  const timings = calls.map((call) => call[call.indexOf("--timing-cache") + 1]);
  assertMatch(timings[0]!, /commits\/timings\.json$/);
  assertEquals(new Set(timings).size, 1);

  // The other way round nothing fails.
  const back = await repository.compare(
    ...["new..old", "--runs", "1", "--fail-on", "slower"],
    "--no-timing-cache",
  );
  assertEquals(back.code, 0, back.stderr);
  assertMatch(back.stdout, /^faster .* 20\.00 -> 10\.00 µs/m);
  assertMatch(back.stdout, /^1 round; .*unknown in new/m);
  assertEquals(repository.calls()[0]!.includes("--timing-cache"), false);
});

Deno.test("compare BASE..HEAD measures until each row is settled or its time is over", async () => {
  using repository = new Repository();
  repository.build("old", [{}]);
  repository.build("slow", [slow]);
  repository.build("wide", [wide]);
  const measure = async (...args: string[]) => {
    const ran = await repository.compare(...args);
    const sides = repository.calls().map(([cwd]) =>
      cwd!.split("/").at(-1) === "base" ? "A" : "B"
    );
    return { ...ran, order: sides.join("") };
  };
  const clear = await measure("old..slow");
  assertEquals([clear.code, clear.order], [1, "ABBAAB"], clear.stderr);
  assertMatch(clear.stdout, / 99\.5 % interval \+[\d.]+ to \+[\d.]+ µs$/m);
  const unclear = await measure("old..wide");
  assertEquals([unclear.code, unclear.order], [0, "ABBA".repeat(6)]);
  assertMatch(unclear.stdout, /^unclear /m);
  assertMatch(
    unclear.stderr,
    /^1 unclear after 12 rounds: give a longer --rep$/m,
  );
  const late = await measure("old..wide", "--budget", "0.1");
  assertEquals([late.code, late.order], [0, "ABBAAB"]);
  assertMatch(late.stderr, /^1 unclear after 3 rounds: .* --rep or --budget$/m);
});

Deno.test("compare takes two checkouts as they are", async () => {
  using repository = new Repository();
  repository.build("old", [{}]);
  const other = join(repository.folder, "other");
  repository.git("worktree", "add", "--quiet", other);
  Deno.writeTextFileSync(join(other, "rows.csv"), writeCsv([csvRow(slow)]));
  const args = ["compare", repository.path, other, "--runs", "1"];
  const log = join(repository.folder, "calls");
  const ran = await program([...args, "--suite", log], {
    cwd: repository.folder,
    env: { TMPDIR: repository.temporary },
  });
  assertEquals(ran.code, 1, ran.stderr);
  assertMatch(ran.stdout, /^slower /m);
  assertEquals([...Deno.readDirSync(repository.temporary)], []);
  const calls = repository.calls();
  assertEquals(calls.map(([cwd]) => cwd), [repository.path, other]);
  assertEquals(calls[0]!.includes("--kernel-cache"), false);
});

Deno.test("compare BASE..HEAD says in one line what cannot be measured", async () => {
  using repository = new Repository();
  repository.build("good", [{}]);
  repository.commit("unbuilt", { "cli/main.ts": "this is no program" });
  repository.commit("idle", {
    "cli/main.ts": 'console.error("error: No kernel is named naive");',
  });
  repository.commit("misused", {
    "cli/main.ts":
      'console.error("error: There is no file s.ts"); Deno.exit(2);',
  });
  const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["good..misused"], 2, /^error: Cannot measure misused .*: There is no/m],
    [["good..nowhere"], 2, /^error: Cannot find the commit nowhere: /],
    [["good..unbuilt"], 3, /^error: Cannot measure unbuilt [\da-f]{12}: .+$/m],
    [
      ["good..idle"],
      3,
      /^error: Cannot measure idle .*: No kernel is named naive$/m,
    ],
    [
      ["good", "--budget", "9"],
      2,
      /^error: --budget is for two commits/,
    ],
  ];
  for (const [args, code, line] of refusals) {
    const ran = await repository.compare(...args);
    assertEquals(ran.code, code, ran.stderr);
    assertMatch(ran.stderr, line);
    assertEquals(ran.stderr.match(/^error: /gm)?.length, 1, ran.stderr);
    assertEquals(ran.stdout, "");
  }
  Deno.writeTextFileSync(join(repository.path, "rows.csv"), "changed");
  const dirty = await repository.compare("good..HEAD");
  assertEquals(dirty.code, 2);
  assertMatch(
    dirty.stderr,
    /^error: Cannot compare good\.\.HEAD: rows\.csv differs from HEAD and would not be measured; /,
  );
  // Another commit than HEAD is measured as it is.
  const named = await repository.compare("good..good", "--runs", "1");
  assertEquals(named.code, 0, named.stderr);
  const outside = await program(["compare", "a..b"], {
    cwd: repository.folder,
    env: { GIT_CEILING_DIRECTORIES: repository.folder },
  });
  assertEquals(outside.code, 2);
  assertMatch(
    outside.stderr,
    /^error: Cannot compare a\.\.b: not a git repository/,
  );
  const gitless = await program(["compare", "a..b"], {
    cwd: repository.path,
    env: { PATH: repository.temporary },
  });
  assertEquals(gitless.code, 2);
  assertMatch(
    gitless.stderr,
    /^error: Cannot check out commits: git cannot be run: .*; install git/,
  );
});

Deno.test("compare --bisect tells git bisect run what each commit is", async () => {
  using repository = new Repository();
  repository.build("good", [{}]);
  const builds:
    readonly (readonly [string, readonly Partial<CsvRow>[], number])[] = [
      ["same", [{}], 0],
      ["faster", [{ median_us: "5", q1_us: "4.9", q3_us: "5.1" }], 0],
      ["slow", [slow], 1],
      ["broken", [{ ...failed, status: "wrong" }], 1],
      ["inaccurate", [{ rel_l2_err: "0.5" }], 1],
      ["uncompiled", [{ ...failed, status: "compile" }], 125],
      ["absent", [{ kernel: "another" }], 125],
      ["wide", [wide], 125],
    ];
  for (const [name, rows, code] of builds) {
    repository.build(name, rows);
    const ran = await repository.compare(
      ...["--bisect", `good..${name}`, "--runs", "1"],
    );
    assertEquals([name, ran.code], [name, code], ran.stderr);
  }
  repository.commit("unbuilt", { "cli/main.ts": "this is no program" });
  for (const range of ["good..unbuilt", "good..nowhere", "good"]) {
    const ran = await repository.compare("--bisect", range);
    assertEquals([range, ran.code], [range, 125]);
    assertMatch(ran.stderr, /^error: /m);
  }
  const typo = await repository.compare("--bisect", "good..slow", "--run", "1");
  assertEquals(typo.code, 125, typo.stderr);
});

Deno.test({
  name: `git bisect finds the commit that made a C kernel slower${lacking()}`,
  ignore: lacking() !== "",
  async fn() {
    using repository = new Repository();
    repository.commit("commit-0", {
      "suite.ts": SUITE,
      "planted.c": SOURCE(2, 0),
    });
    const slower = 3;
    for (let i = 1; i < 8; i++) {
      // Some commits do not compile.
      const source = i % 4 === 1 ? "no C" : SOURCE(i < slower ? 2 : 20, i);
      repository.commit(`commit-${i}`, { "planted.c": source });
    }
    const first = repository.git("rev-parse", "commit-0").trim();
    const found = await repository.bisect(first, "HEAD", [
      ...["--suite", "./suite.ts", "--backend", "cpu", "--runs", "1"],
      ...["--warmup", "1", "--rep", "300", "--threshold", "200"],
      ...["--kernel-cache", join(repository.folder, "cache")],
    ]);
    assertEquals(found.first, `commit-${slower}`);
    assertEquals([...Deno.readDirSync(repository.temporary)], []);
  },
});

Deno.test({
  name:
    `compare BASE..HEAD measures a repository's own kernels as its commits have them${lacking()}`,
  ignore: lacking() !== "",
  async fn() {
    using repository = new Repository();
    const suite = SUITE
      .replace("defineSuite, matmul", "defineSuite, kernels, matmul")
      .replace("kernels: [", "kernels: [\n    ...kernels,");
    repository.commit("quick", {
      "suite.ts": suite,
      "planted.c": SOURCE(2, 0),
    });
    repository.commit("slow", { "planted.c": SOURCE(4, 1) });
    // By the path in the working tree, which is that of neither commit.
    const compare = (path: string) =>
      program([
        ...["compare", "quick..slow", "--suite", path, "--backend", "cpu"],
        ...["--runs", "1", "--warmup", "1", "--rep", "1", "--format", "json"],
        ...["--kernel-cache", join(repository.folder, "cache")],
      ], { cwd: repository.path, env: { TMPDIR: repository.temporary } });
    const { code, stdout, stderr } = await compare(
      join(repository.path, "suite.ts"),
    );
    assertMatch(
      stderr,
      /^Only kernels of this repository are measured: planted; --kernel/m,
    );
    // A busy machine may leave it unclear.
    assert(code <= 1, stderr);
    const { rows } = JSON.parse(stdout);
    assertEquals(
      rows.map((
        { key, causes }: { key: { kernel: string }; causes: string[] },
      ) => [
        key.kernel,
        causes.includes("code changed"),
      ]),
      [["planted", true]],
    );
    const builtIn = await compare("matmul-fp32");
    assertEquals([builtIn.code, builtIn.stdout], [2, ""]);
    assertMatch(
      builtIn.stderr,
      /^error: Cannot compare quick\.\.slow: without a suite or kernel file/m,
    );
  },
});

Deno.test("compare BASE..HEAD removes what it made when it is stopped", async () => {
  using repository = new Repository();
  repository.build("good", [{}]);
  const log = join(repository.folder, "calls");
  repository.commit("endless", {
    "cli/main.ts": `${PROGRAM}
Deno.addSignalListener("SIGTERM", () => {
  Deno.writeTextFileSync(log + ".end", "");
  Deno.exit(143);
});
Deno.writeTextFileSync(log + ".begin", "");
setInterval(() => {}, 1000);`,
  });
  const watcher = Deno.watchFs(repository.folder, { recursive: false });
  const child = start(
    ["compare", "good..endless", "--suite", log],
    repository.path,
    {
      env: { TMPDIR: repository.temporary },
    },
  );
  const ended = child.output().finally(() => watcher.close());
  for await (const { paths } of watcher) {
    if (paths.some((path) => path.endsWith(".begin"))) break;
  }
  child.kill("SIGINT");
  const { code, stderr } = await ended;
  assertEquals(code, 130, new TextDecoder().decode(stderr));
  assertMatch(new TextDecoder().decode(stderr), /^error: Stopped in round 1$/m);
  Deno.statSync(`${log}.end`);
  assertEquals([...Deno.readDirSync(repository.temporary)], []);
  assertEquals(repository.git("worktree", "list").split("\n").length, 2);
});

Deno.test("benchArgs() keeps what compare does not take itself", () => {
  const own = [
    "--threshold",
    "3",
    "--format=md",
    "--kernel-cache",
    "c",
    "--bisect",
  ];
  const sides = ["a", "b"];
  assertEquals(
    benchArgs(
      ["a", ...own, "--kernel", "a", "b", "--prebuilt", "mine.c"],
      sides,
    ),
    ["--kernel", "a", "--prebuilt", "mine.c"],
  );
});
