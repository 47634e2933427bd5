import { join } from "node:path";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { writeCsv } from "../../bench/row/csv.ts";
import { parseEffects } from "../../report/diff/mde.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { readRows } from "../../session/read_rows.ts";
import { SOURCE, SUITE } from "../testdata/planted.ts";
import { lacking, program, type Ran } from "../testdata/program.ts";

/** The suite in its folder, with a kernel cache of its own. */
class Planted implements Disposable {
  readonly folder: string = Deno.makeTempDirSync();

  /** Writes the suite; its kernel is not there before {@linkcode Planted.plant}. */
  constructor() {
    Deno.writeTextFileSync(this.at("planted.ts"), SUITE);
  }

  /** The path of `name` in the folder. */
  at(name: string): string {
    return join(this.folder, name);
  }

  /** Writes the kernel, which takes so many milliseconds. */
  plant(ms: number): void {
    Deno.writeTextFileSync(this.at("planted.c"), SOURCE(ms));
  }

  /** Runs a command on the suite. */
  run(...args: string[]): Promise<Ran> {
    const [command, ...rest] = args;
    return program([
      command!,
      ...["--suite", this.at("planted.ts"), "--backend", "cpu"],
      ...["--kernel-cache", this.at("cache")],
      ...["--warmup", "1", "--rep", "80", ...rest],
    ], { cwd: this.folder });
  }

  /** Removes the folder. */
  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

const ignore = lacking() !== "";
// What is planted is a factor of twenty; what a busy machine does to 3 % is not the matter here.
const CONFIRM = [
  ...["compare", "--format", "json", "--runs", "2"],
  ...["--threshold", "100"],
];

/** Measures the suite as it is, and gives the only row. */
async function measure(planted: Planted, out: string): Promise<CsvRow> {
  const { code, stderr } = await planted.run("bench", "--out", planted.at(out));
  assertEquals(code, 0, stderr);
  const [one] = await readRows([planted.at(out)]);
  return one!.row;
}

/** `row` as a quiet machine would have measured `us`, whatever this one is. */
function taking(row: CsvRow, us: number): CsvRow {
  return {
    ...row,
    median_us: `${us}`,
    q1_us: `${0.99 * us}`,
    q3_us: `${1.01 * us}`,
    min_us: `${0.98 * us}`,
    mean_us: `${us}`,
    tflops: "",
    gbps: "",
  };
}

Deno.test({
  name: `compare runs either build and tells what is slower${lacking()}`,
  ignore,
  async fn() {
    using planted = new Planted();
    planted.plant(2);
    const base = await measure(planted, "base");
    planted.plant(40);
    const next = await measure(planted, "next");
    assert(base.binary_hash !== next.binary_hash);
    const sides = [planted.at("base.csv"), planted.at("next.csv")] as const;
    await Deno.writeTextFile(sides[0], writeCsv([taking(base, 2_000)]));
    await Deno.writeTextFile(sides[1], writeCsv([taking(next, 40_000)]));
    const slower = await planted.run(...CONFIRM, ...sides);
    assertEquals(slower.code, 1, slower.stderr);
    const [row] = JSON.parse(slower.stdout).rows;
    assertEquals(row.verdict, "slower");
    assertMatch(
      row.why,
      /^measured again, 0\.\d+x ± (\d\.\d+|\?) as fast; \+\d+\.\d % before$/,
    );
    // It takes twenty times as long, and the base's binary is not that of the source of now.
    assert(row.change > 1, `${row.change}`);
    assertMatch(slower.stderr, /Measured 1 row again: 1 is slower/);
    // The other way round the base is the new binary.
    const faster = await planted.run(...CONFIRM, ...sides.toReversed());
    assertEquals(faster.code, 0, faster.stderr);
  },
});

Deno.test({
  name: `compare passes a false alarm, and says so${lacking()}`,
  ignore,
  async fn() {
    using planted = new Planted();
    planted.plant(2);
    const measured = await measure(planted, "next");
    const row = taking(measured, 2_000);
    const base = { ...taking(measured, 500), run: "another" };
    const file = planted.at("base.csv");
    await Deno.writeTextFile(file, writeCsv([base]));
    const next = planted.at("next.csv");
    await Deno.writeTextFile(next, writeCsv([row]));
    const args = [file, next];
    assertEquals((await program(["diff", ...args])).code, 1);
    const { code, stdout, stderr } = await planted.run(...CONFIRM, ...args);
    assertEquals(code, 0, stdout);
    assertEquals(JSON.parse(stdout).counts.slower, 0);
    assertMatch(stderr, /Measured 1 row again: 0 are slower/);

    // A peer's row keeps its verdict, and ours is measured all the same.
    const peer = { kernel: "torch-eager", library: "torch 2.11.0" };
    const sides = [planted.at("old.csv"), planted.at("new.csv")] as const;
    await Deno.writeTextFile(sides[0], writeCsv([base, { ...base, ...peer }]));
    await Deno.writeTextFile(sides[1], writeCsv([row, { ...row, ...peer }]));
    const beside = await planted.run(...CONFIRM, ...sides);
    assertEquals(beside.code, 1, beside.stderr);
    assertEquals(JSON.parse(beside.stdout).counts.slower, 1);
    assertMatch(beside.stderr, /Measured 1 row again: 0 are slower/);
    assertMatch(beside.stderr, /^1 row of peers was not measured again/m);

    // A base whose binary is gone cannot be run.
    const lost = { ...base, binary_hash: "0123456789abcdef" };
    await Deno.writeTextFile(file, writeCsv([lost]));
    const gone = await planted.run(...CONFIRM, ...args);
    assertEquals(gone.code, 3);
    assertMatch(
      gone.stderr,
      /Cannot confirm: no kernel in .* has the binary 0123/,
    );
    assertEquals(JSON.parse(gone.stdout).counts.slower, 1);

    // Nor can another driver.
    const driver = { ...base, driver: "another" };
    await Deno.writeTextFile(file, writeCsv([driver]));
    const other = await planted.run(...CONFIRM, ...args);
    assertEquals(other.code, 3);
    assertMatch(other.stderr, /was measured with driver another before/);
  },
});

Deno.test({
  name:
    `compare --calibrate keeps what runs of one build differ by${lacking()}`,
  ignore,
  async fn() {
    using planted = new Planted();
    planted.plant(2);
    const out = planted.at("out");
    const made = await planted.run(
      ...["compare", "--calibrate", "--times", "3", "--out", out],
    );
    assertEquals(made.code, 0, made.stderr);
    const [device] = [...Deno.readDirSync(out)];
    const file = `${out}/${device!.name}/planted.mde.json`;
    const { runs, rows } = parseEffects(Deno.readTextFileSync(file), file);
    assertEquals([runs, rows.length], [3, 1]);
    // How far runs differ is up to what else the machine does; the next test has the figures.
    const { mde } = rows[0]!;
    assert(mde > 0 && Number.isFinite(mde), `${mde}`);
  },
});

Deno.test("compare --calibrate reads runs of one build, and refuses those of two", async () => {
  using planted = new Planted();
  const files = ["10", "10.2", "9.9"].map((median_us, i) => {
    const file = planted.at(`${i}.csv`);
    Deno.writeTextFileSync(file, writeCsv([csvRow({ median_us })]));
    return file;
  });
  const out = planted.at("out");
  const args = ["compare", "--calibrate", "--out", out];
  const { code, stdout } = await program([...args, ...files]);
  assertEquals(code, 0);
  assertEquals(
    stdout,
    `${out}/fake-1/s.mde.json: 1 rows of 3 runs, minimal detectable effect 4.7 % at most\n`,
  );
  // What is known of other cases stays.
  const more = files.map((file, i) => {
    const path = file.replace(".csv", ".b.csv");
    const row = csvRow({ kernel: "b", median_us: `${10 + i}` });
    Deno.writeTextFileSync(path, writeCsv([row]));
    return path;
  });
  for (let i = 0; i < 2; i++) {
    assertEquals((await program([...args, ...more])).code, 0);
    const path = `${out}/fake-1/s.mde.json`;
    const { rows } = parseEffects(Deno.readTextFileSync(path), path);
    assertEquals(rows.map(({ key }) => key[2]), ["kernel", "b"]);
  }
  for (const path of more) Deno.removeSync(path);
  const other = csvRow({ binary_hash: "another" });
  Deno.writeTextFileSync(files[2]!, writeCsv([other]));
  const two = await program([...args, ...files]);
  assertEquals(two.code, 2);
  assertMatch(two.stderr, /is not the same build as .* \(binary changed\)/);
  // Three times one file would be a spread of nothing.
  const [first] = files as [string];
  const same = await program([...args, ...[first, first, first]]);
  assertEquals(same.code, 2);
  assertMatch(
    same.stderr,
    /^error: Cannot calibrate: .*0\.csv line 2 is the measurement of .*0\.csv line 2, .*\n$/,
  );
  const folder = await program([...args, planted.at("."), ...files]);
  assertEquals(folder.code, 2);
  assertMatch(
    folder.stderr,
    /^error: Cannot read .*1\.csv: line 2, .*the same case as on line 2 of .*0\.csv; .*\n$/,
  );
  const few = await program([...args, ...files.slice(0, 2)]);
  assertMatch(few.stderr, /Cannot calibrate with 2 runs/);
  const twice = await program([...args, "--backend", "cpu", "--times", "2"]);
  assertEquals(twice.code, 2);
  // Not even a device is looked for.
  assertMatch(twice.stderr, /^error: Cannot calibrate with 2 runs.*\n$/);
  const neither = await program(["compare", ...files]);
  assertEquals(neither.code, 2);
  assertMatch(
    neither.stderr,
    /Cannot compare 3 paths: give the rows before and after, compare BASE NEW/,
  );
});

const slow = { median_us: "20", q1_us: "19.9", q3_us: "20.1" };
const peer = {
  kernel: "torch-eager",
  backend: "cuda",
  library: "torch 2.11.0",
};

async function confirm(base: string, next: string) {
  const folder = await Deno.makeTempDir();
  try {
    const files = [`${folder}/base.csv`, `${folder}/next.csv`] as const;
    await Deno.writeTextFile(files[0], base);
    await Deno.writeTextFile(files[1], next);
    return await program(
      ["compare", "--format", "json", ...files],
      { cwd: folder },
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("compare leaves peers' rows as they are, and says why", async () => {
  const { code, stdout, stderr } = await confirm(
    writeCsv([csvRow(peer)]),
    writeCsv([csvRow({ ...peer, ...slow })]),
  );
  assertEquals(code, 1, stderr);
  const [row] = JSON.parse(stdout).rows;
  assertEquals([row.verdict, row.change], ["slower", 1]);
  assertMatch(row.why, /^not measured again: it is a peer's$/);
  assertMatch(
    stderr,
    /^1 row of peers was not measured again, .*: measure both sides with `bench --peers torch`$/m,
  );
  assertMatch(stderr, /^No row of ours is slower or unclear/m);
});

Deno.test("compare without paths takes the cases that were measured, as diff says", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const write = async (place: string, fields: Partial<CsvRow>[]) => {
      await Deno.mkdir(`${folder}/${place}/fake-1`, { recursive: true });
      await Deno.writeTextFile(
        `${folder}/${place}/fake-1/s.csv`,
        writeCsv(fields.map((field) => csvRow(field))),
      );
    };
    const run = (...args: string[]) => program(args, { cwd: folder });
    const none = await run("compare");
    assertEquals(none.code, 3);
    assertMatch(none.stderr, /Cannot compare: no row is in .*compare BASE NEW/);

    // The other case is recorded, and was not measured now: it is not missing.
    await write("results", [{}, { kernel: "other" }]);
    await write(".runs/latest", [{ median_us: "10.1" }]);
    const { code, stderr } = await run("compare");
    assertEquals(code, 0, stderr);
    assertMatch(
      stderr,
      /^Rows of \.runs\/latest against those of results\nNo row is slower/,
    );

    const lost = await run("diff", "recorded", ".runs/latest");
    assertEquals(lost.code, 2);
    assertMatch(
      lost.stderr,
      /^error: Cannot read recorded: .*; recorded rows are in results\n$/,
    );

    await write(".runs/latest", [slow]);
    const said = await run("diff");
    assertEquals(said.code, 1, said.stderr);
    assertMatch(
      said.stderr,
      / compare --suite FILE, where FILE has the suite s$/m,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** A right product of square matrices, or one that ends its process where M is 16. */
const KERNEL = (end = "") => `
#include <signal.h>
void mine(const float *A, const float *B, float *C, int M, int N, int K) {
  for (int i = 0; i < M * N; i++) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[i / N * K + k] * B[k * N + i % N];
    C[i] = sum;
  }
  ${end}
}
`;

Deno.test({
  name:
    `compare of two files shows what it has where one side fails${lacking()}`,
  ignore,
  async fn() {
    using planted = new Planted();
    Deno.writeTextFileSync(planted.at("a.c"), KERNEL());
    const crash = "if (M == 16) raise(SIGSEGV);";
    Deno.writeTextFileSync(planted.at("b.c"), KERNEL(crash));
    const args = [
      ...["--m", "8,16", "--warmup", "1", "--rep", "1"],
      // What a loaded machine does to its times is not the matter here.
      ...["--threshold", "1000", "--kernel-cache", planted.at("cache")],
    ];
    const run = (runs: number, ...names: string[]) =>
      program(["compare", ...names, ...args, "--runs", `${runs}`], {
        cwd: planted.folder,
      });
    const failed = await run(2, "a.c", "b.c");
    assertEquals(failed.code, 4, failed.stderr);
    assertMatch(failed.stdout, /^8×8×8 .*\dx ± [\d?].* same$/m);
    assertMatch(failed.stdout, /^16×16×16 .* crash .* broken: ok -> crash/m);
    assertEquals(failed.stdout.includes("geomean"), false);
    const broken = await run(1, "a.c", "b.c", "--only", "broken");
    assertMatch(broken.stdout, /^median µs .*\n16×16×16 .*\n$/);
    const all = await program(
      ["compare", "a.c", "b.c", ...args.with(1, "16"), "--runs", "1"],
      { cwd: planted.folder },
    );
    assertEquals(all.code, 4, all.stderr);
    assertMatch(all.stdout, /^16×16×16 .* broken: ok -> crash/m);
    assertEquals(all.stderr.includes("Nothing was compared"), false);
    const fixed = await program(
      ["compare", "b.c", "a.c", ...args.with(1, "16"), "--runs", "1"],
      { cwd: planted.folder },
    );
    assertEquals(fixed.code, 0, fixed.stderr);
    assertMatch(fixed.stdout, /^16×16×16 .* fixed: crash -> ok/m);
    const itself = await run(2, "a.c", "a.c", "--format", "json");
    assertEquals(itself.code, 0, itself.stderr);
    const { rows, geomean } = JSON.parse(itself.stdout);
    assertEquals(
      rows.map((row: { verdict: string; why: string; new: { runs: number } }) =>
        `${row.verdict} ${row.new.runs}: ${row.why}`
      ),
      ["same 2: the same binary", "same 2: the same binary"],
    );
    assertEquals([geomean.n, geomean.of, geomean.verdict], [2, 2, "same"]);
  },
});

Deno.test("compare says in one line what cannot be compared", async () => {
  using planted = new Planted();
  const files = {
    "a.c": KERNEL(),
    "half.c": KERNEL().replaceAll("float", "_Float16"),
    "b.cu": `extern "C" __global__ ${KERNEL()}`,
    "none.c": "int x;",
  };
  for (const [name, text] of Object.entries(files)) {
    Deno.writeTextFileSync(planted.at(name), text);
  }
  const strange: readonly (readonly [readonly string[], number, RegExp])[] = [
    [
      ["a.c", "results"],
      2,
      /^error: Cannot compare the kernel a\.c with the rows of results: /,
    ],
    [
      ["a.c", "nothing"],
      2,
      // Each name once, though many suites have it.
      /^error: No file or folder is named nothing\. No kernel is named nothing: there are (?!.*\bnaive\b.*\bnaive\b)/,
    ],
    [
      ["a.c", "none.c"],
      2,
      /^error: Cannot use the source file none\.c: it has no function/m,
    ],
    [["a.c", "b.cu"], 2, /^error: Cannot compare on cpu: b\.cu is for cuda/m],
    [
      ["a.c", "half.c"],
      3,
      /^error: Nothing to run: a\.c is at m=64 .* none is the same; give both/m,
    ],
    [
      ["a.c", "naive", "--suite", "skinny"],
      2,
      /^error: Cannot take both a kernel file and --suite/m,
    ],
    [
      ["results", "results", "--quick"],
      2,
      /^error: --quick is for kernels and commits: choose rows by --suite/,
    ],
    [
      ["a.c", "a.c", "--times", "7"],
      2,
      /^error: --times is for runs of one build: add --calibrate, or leave out --times$/m,
    ],
    [
      ["results", "results", "--out", "new"],
      2,
      /^error: --out is for runs of one build: add --calibrate, or leave out --out$/m,
    ],
    [
      ["--calibrate", "--times", "7", "a.csv", "b.csv", "c.csv"],
      2,
      /^error: --times is for runs that are measured now: leave it out, or name no path$/m,
    ],
    [
      ["results", "results", "--peers", "torch"],
      2,
      /^error: --peers is for kernels, commits and --calibrate: rows of peers/,
    ],
    [
      ["a.c", "a.c", "--peers", "torch"],
      2,
      /^error: Cannot use --peers torch: neither a\.c nor a\.c is one of these/m,
    ],
    [["a.c", "--m", "8"], 2, /^error: A second kernel is missing: give two, /],
    [
      ["naive", "naive", "--kernel", "naive"],
      2,
      /^error: Give kernels without --kernel/m,
    ],
    [
      ["naive", "torch-eager"],
      3,
      /no built-in suite has both .*; peers need --peers torch$/m,
    ],
  ];
  Deno.mkdirSync(planted.at("results"));
  for (const [args, code, line] of strange) {
    const ran = await program(["compare", ...args], { cwd: planted.folder });
    assertEquals(ran.code, code, ran.stderr);
    assertMatch(ran.stderr, line);
    assertEquals(ran.stdout, "");
  }
});
