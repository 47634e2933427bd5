import { assert, assertEquals, assertMatch } from "@std/assert";
import { nextLines, standingLine } from "./list/stale.ts";
import { join } from "node:path";
import {
  lacking,
  program,
  type Ran,
  testdata,
  within,
} from "../testdata/program.ts";
import { recordOf, writeTable } from "../../bench/row/csv.ts";
import { COLUMNS, LATER_COLUMNS } from "../../bench/row/columns.ts";
import type { Column } from "../../bench/row/csv_row.ts";
import { pipe, posix } from "../../bench/testdata/pipes.ts";
import { INFO } from "../../bench/testdata/jobs.ts";
import { timedRow } from "../../bench/testdata/rows.ts";
import { Journal } from "../../bench/worker/journal.ts";
import { readRows } from "../../session/read_rows.ts";
import type { RowState, Staleness } from "../../session/stale/stale.ts";

const SUITE =
  `import { defineLaunch, defineSuite, kernels, matmul } from "mnkbench";

const launch = (name: string) =>
  defineLaunch(matmul, {
    name,
    backend: "cpu",
    source: new URL(\`./\${name}.c\`, import.meta.url),
    entry: "product",
    shape: ({ m, n }) => ({ grid: [m, 1, 1], block: [n, 1, 1] }),
  });

export default defineSuite({
  name: "dated",
  title: "two kernels in C and one in TypeScript",
  op: matmul,
  axes: { m: [4], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [launch("one"), launch("two"), ...kernels.filter(({ name }) => name === "naive")],
  baselines: ["naive"],
});
`;

const SOURCE = `void product(const float *A, const float *B, float *C, int M,
                  int N, int K, int lda, int ldb, int ldc) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += (double)A[i * lda + k] * B[k * ldb + j];
      C[i * ldc + j] = sum;
    }
}
`;

/** Writes the CSV at \`path\` as it was before the columns of the commit. */
async function makeOld(path: string): Promise<void> {
  const rows = await readRows([path]);
  const later: readonly Column[] = LATER_COLUMNS;
  const columns = COLUMNS.filter((column) => !later.includes(column));
  const fields = rows.map(({ row }) => columns.map((column) => row[column]));
  await Deno.writeTextFile(path, writeTable([columns, ...fields]));
}

Deno.test({
  name:
    `list --stale names the rows whose code changed, and the figures that rest on them${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (run, folder) => {
      const write = (name: string, text: string) =>
        Deno.writeTextFile(join(folder, name), text);
      const list = (...args: string[]): Promise<Ran> =>
        program(["list", "--stale", "--suite", "./dated.ts", ...args], {
          cwd: folder,
        });
      await write("dated.ts", SUITE);
      for (const name of ["one.c", "two.c"]) await write(name, SOURCE);
      const bench = (...more: string[]) =>
        run(
          ...["bench", "--suite", "./dated.ts", "--backend", "cpu"],
          ...["--warmup", "0", "--rep", "1", "--out", "results", ...more],
        );
      assertEquals((await bench()).code, 0);
      // A point that is not the suite's own.
      assertEquals((await bench("--m", "3", "--kernel", "one")).code, 0);
      const [device] = [...Deno.readDirSync(join(folder, "results"))];
      const csv = join("results", device!.name, "dated.csv");
      await write(
        "README.md",
        `# Times\n\n[Rows](${csv}); not results/other/dated.csv.\n\n![](plots/${
          device!.name
        }/dated/latency.png)\n`,
      );
      await Deno.mkdir(join(folder, "docs", "guide"), { recursive: true });
      await write(
        join("docs", "guide", "a.md"),
        `results/${device!.name}/{else,dated}.csv\n\ntable results/${
          device!.name
        } --suite else,dated --timer graph\n`,
      );

      const fresh = await list();
      assertEquals([fresh.code, fresh.stdout], [0, ""], fresh.stderr);
      assertMatch(
        fresh.stderr,
        /^0 of 3 rows with sources .*; 1 other row has no sources/,
      );
      await write("one.c", `// About it.\n\n${SOURCE}`);
      assertEquals((await list()).code, 0);
      await write("one.c", SOURCE.replace("double sum", "float sum"));
      const stale = await list();
      assertEquals(stale.code, 1);
      assertMatch(stale.stdout, /dated\.csv: 2 rows$/m);
      assertMatch(
        stale.stdout,
        /^ {2}one +2 of 2 +the code changed since [\w.]+/m,
      );
      for (const place of ["README.md:3", "README.md:5", "a.md:1", "a.md:3"]) {
        assertEquals(stale.stdout.includes(`${place} `), true, place);
      }
      assertEquals(/ two /.test(stale.stdout), false);
      const two = await list("--kernel", "two", "--json");
      assertEquals(two.code, 0);
      assertEquals(JSON.parse(two.stdout), { rows: [], figures: [] });

      await makeOld(join(folder, csv));
      await write("two.c", `// About it.\n${SOURCE}`);
      const old = await list(csv);
      assertMatch(
        old.stdout,
        /^ {2}two +1 of 1 +a source or a comment in it changed since \d{4}-/m,
      );
      await write("dated.ts", SUITE.replace('launch("two"), ', ""));
      assertMatch((await list()).stdout, /^ {2}two +1 of 1 +no such /m);
    }),
});

Deno.test("list --stale ends with 3 where no row is selected", async () => {
  const cases: readonly (readonly [string[], RegExp])[] = [
    [
      ["results/nvidia-h200/router-bf16.csv", "--kernel", "bmm-summ"],
      /^error: No row has the suites and kernels that were named: there are suites router-bf16 and kernels .*bmm-sum/m,
    ],
    [
      ["results/published"],
      /^error: No row is there that was measured here: measure some with /m,
    ],
  ];
  for (const [words, message] of cases) {
    const { code, stderr } = await program(["list", "--stale", ...words]);
    assertEquals(code, 3);
    assertMatch(stderr, message);
  }
});

Deno.test("list refuses paths without --stale, and points with it", async () => {
  const cases: readonly [string, RegExp][] = [
    ["results", /^.*paths of rows are for --stale; add it/],
    ["--stale --m 16", /--stale does not take --axis: leave it out/],
    ["--stale --cases --quick", /--quick, --cases: leave them out/],
  ];
  for (const [args, message] of cases) {
    const { code, stderr } = await program(["list", ...args.split(" ")]);
    assertEquals(code, 2);
    assertMatch(stderr, message);
  }
});

Deno.test("list takes files of suites and kernels as bench does", async () => {
  const file = testdata("small_suite.ts");
  const by = (...args: string[]) => program(["list", "--cases", ...args]);
  const [named, alone] = [await by("--suite", file), await by(file)];
  assertEquals([alone.code, alone.stdout], [0, named.stdout]);
});

Deno.test("nextLines() names what measures stale rows, and what spares it", () => {
  const stood = (suite: string, standing: Staleness): RowState => ({
    file: `${suite}.csv`,
    line: 2,
    standing,
    row: { ...recordOf(timedRow("cluster-k")), suite, kernel: "cluster-k" },
  });
  const { device, backend } = recordOf(timedRow("cluster-k"));
  const lines = nextLines([
    stood("epilogue-bf16", "changed"),
    stood("router-bf16", "gone"),
  ]);
  assertEquals(lines.slice(0, 1), [
    "Next, where only names or structure changed: deno task same-code",
  ]);
  assertMatch(
    lines[1]!,
    /^Next, on .*bench --suite epilogue-bf16 .* --record$/,
  );
  assert(lines[1]!.startsWith(`Next, on ${device}: `));
  assert(lines[1]!.includes(` --backend ${backend} `));
  assertMatch(lines[2]!, /^Next: remove the rows of router-bf16\.csv that/);
  assertEquals(nextLines([stood("router-bf16", "gone")]).length, 1);
  const [own, ...others] = nextLines([stood("mine.c", "gone")]);
  assertMatch(
    own!,
    /^Next, if the suite mine\.c is of a file of yours: .*list --stale --suite FILE$/,
  );
  assertEquals(others.length, 1);
  assertEquals(nextLines([stood("mine.c", "gone")], ["mine.c"]).length, 1);
});

Deno.test("standingLine() is of one row or of several", () => {
  assertEquals(
    standingLine(0, 1, 1),
    "0 of 1 row with sources is stale; 1 other row has no sources and is not checked",
  );
  assertEquals(
    standingLine(2, 3, 2),
    "2 of 3 rows with sources are stale; 2 other rows have no sources and are not checked",
  );
});

Deno.test("list --unfinished names stopped runs, their rows and what goes on with them", () =>
  within(async (run, folder) => {
    const info = { ...INFO, command: ["bench", "--fresh", "--kernel", "a b"] };
    {
      using journal = new Journal(join(folder, ".runs"), info);
      journal.append({ row: timedRow("a"), repeat: 0 });
    }
    const { code, stdout, stderr } = await run("list", "--unfinished");
    assertEquals(code, 0, stderr);
    assertMatch(
      stdout,
      /^\.runs\/[0-9a-f]{12} {2}2026-01-02T03:04:05Z {2}Fake \(1\) {2}1 row {2}stopped\n {2}mnkbench bench --kernel 'a b'\n$/,
    );
    assertMatch(stderr, /to remove one: rm -r \.runs\/[0-9a-f]{12}\n$/);
    const refused = await run("list", "--unfinished", "--kernel", "a");
    assertEquals(refused.code, 2);
    assertMatch(refused.stderr, /--unfinished does not take --kernel/);
  }));

Deno.test(
  "list --unfinished has a line for each run that cannot be read",
  posix,
  () =>
    within(async (run, folder) => {
      const runs = join(folder, ".runs");
      Deno.writeTextFileSync(runs, "");
      const refused = await run("list", "--unfinished");
      assertEquals(refused, {
        code: 2,
        stdout: "",
        stderr: "error: Cannot read .runs: it is not a folder; move it away\n",
      });
      Deno.removeSync(runs);
      new Journal(runs, INFO)[Symbol.dispose]();
      pipe(join(runs, "pipe"));
      const bad = (name: string, file: string) => {
        Deno.mkdirSync(join(runs, name));
        const path = join(runs, name, "run.json");
        if (file !== "run.json") {
          Deno.writeTextFileSync(path, JSON.stringify(INFO));
        }
        return join(runs, name, file);
      };
      pipe(bad("a", "run.json"));
      Deno.mkdirSync(bad("b", "run.json"));
      Deno.writeTextFileSync(bad("c", "run.json"), "{");
      Deno.writeTextFileSync(bad("d", "run.json"), "\0\0");
      pipe(bad("e", "journal.jsonl"));
      pipe(bad("f", "lock"));
      Deno.symlinkSync("lock", bad("g", "lock"));
      const { code, stdout, stderr } = await run("list", "--unfinished");
      assertEquals(code, 2, stderr);
      const listed = [...stdout.matchAll(/^\.runs\/(\w+) .*/gm)];
      assertEquals(
        listed.map(([, name]) => name!.length).sort(),
        [1, 12],
        stdout,
      );
      const told = stderr.split("\n").filter((line) => line.includes("Cannot"));
      assertEquals(
        told.map((line) => /Cannot read \.runs\/(\S+):/.exec(line)?.[1]).sort(),
        [
          ...["a/run.json", "b/run.json", "c/run.json", "d/run.json"],
          ...["e/journal.jsonl", "g/lock"],
        ],
        stderr,
      );
    }),
);

Deno.test("list --unfinished names how to remove a run that cannot be read", () =>
  within(async (run, folder) => {
    Deno.mkdirSync(join(folder, ".runs", "x"), { recursive: true });
    Deno.writeTextFileSync(join(folder, ".runs", "x", "run.json"), "{");
    assertEquals(await run("list", "--unfinished"), {
      code: 2,
      stdout: "",
      stderr:
        "Cannot read .runs/x/run.json: it is damaged or cut short; remove it with `rm -r .runs/x`\n",
    });
  }));
