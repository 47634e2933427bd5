import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertRejects,
} from "@std/assert";
import { fileURLToPath } from "node:url";
import { program, type Ran, start } from "../testdata/program.ts";
import { lockFolder } from "../../bench/files/lock.ts";
import { writeCsv } from "../../bench/row/csv.ts";
import { readCsv } from "../../bench/row/read_csv.ts";
import { publishedRow } from "../../report/import/foreign.ts";
import {
  formatSamples,
  parseSamples,
  readSamples,
  writeSamples,
} from "../../bench/row/samples.ts";
import { unlessMissing } from "../../bench/files/disk.ts";
import { DEFAULTS } from "../../bench/model/settings.ts";
import { casesAnywhere } from "../../session/select.ts";
import { UserError } from "../../bench/model/errors.ts";
import { filesOf } from "../../session/share/slurm_run.ts";
import { joinShards } from "./bench/join.ts";
import { deal, writeShardFile } from "../../session/share/shards.ts";
import { KEY_COLUMNS, keyOf, keyText } from "../../bench/row/row.ts";
import { temporary } from "../../bench/testdata/temporary.ts";

const V3 = "results/published/decompose-k-v3.csv";
const SOURCES = fileURLToPath(
  new URL("../../report/import/testdata/", import.meta.url),
);

function run(...args: string[]): Promise<Ran> {
  return program(args);
}

Deno.test("table --format decompose-k writes the files that import gives back", async () => {
  using folder = temporary();
  const { path } = folder;
  const files = {
    "epilogue-bf16": "epilogue_relu_bf16.csv",
    "matmul-fp32": "plain_matmul_fp32.csv",
  };
  for (const [suite, name] of Object.entries(files)) {
    const { code, stdout } = await run(
      ...`table --format decompose-k --suite ${suite}`.split(" "),
      V3,
    );
    assertEquals(code, 0);
    Deno.writeTextFileSync(`${path}/${name}`, stdout);
  }
  const back = await run(
    ..."import --run decompose-k-v3 --out".split(" "),
    path,
    ...Object.values(files).map((name) => `${path}/${name}`),
  );
  assertEquals([back.code, back.stdout], [0, ""]);
  assertMatch(back.stderr, /decompose-k-v3\.csv: 308 rows$/m);
  const [made, recorded] = [`${path}/decompose-k-v3.csv`, V3].map((file) =>
    readCsv(Deno.readTextFileSync(file), file)
      .filter(({ suite }) => suite in files)
  );
  assertEquals(made, recorded);
});

Deno.test("import says what it replaces and refuses one case from two files", async () => {
  using folder = temporary();
  const take = (...files: string[]) =>
    run("import", "--run", "r", "--out", folder.path, ...files);
  const file = `${SOURCES}plain_matmul_fp32.csv`;
  assertEquals((await take(file)).code, 0);
  assertMatch(
    (await take(file)).stderr,
    /8 rows, 8 of them in place of older ones/,
  );
  Deno.copyFileSync(file, `${folder.path}/again.csv`);
  const { code, stderr } = await take(file, `${folder.path}/again.csv`);
  assertEquals(code, 2);
  assertMatch(
    stderr,
    /again\.csv: .*plain_matmul_fp32\.csv has torch\.mm at 16×16×28672/,
  );
});

/** Where and at which point of matmul-fp32 the rows are. */
const FP32_CASE = {
  suite: "matmul-fp32",
  backend: "cpu",
  layout: "nn",
  device: "CPU",
  a_type: "f32",
  b_type: "f32",
  c_type: "f32",
  arch: "x86_64",
  m: "16",
  n: "16",
  k: "64",
  params: "epilogue=none",
};

function row(kernel: string, median_us: string, of: string) {
  return publishedRow({
    ...FP32_CASE,
    q1_us: median_us,
    q3_us: median_us,
    min_us: median_us,
    mean_us: median_us,
    samples: "3",
    runs: "1",
    harness: "0.1.0",
    kernel,
    median_us,
    run: of,
  });
}

/** Writes a CSV with its samples. */
async function results(folder: string, rows: ReturnType<typeof row>[]) {
  Deno.mkdirSync(`${folder}/cpu`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/cpu/matmul-fp32.csv`, writeCsv(rows));
  const lines = rows.map((own) => {
    const key = Object.fromEntries(KEY_COLUMNS.map((c) => [c, own[c]]));
    const ns = Number(own.median_us) * 1000;
    return formatSamples({
      key: key as Parameters<typeof keyText>[0],
      run: own.run,
      repeat: 0,
      samples_ns: [ns - 1, ns, ns + 1],
    });
  });
  await writeSamples(`${folder}/cpu/matmul-fp32.samples.jsonl.gz`, lines);
}

/** Writes the device file of the rows of a CPU. */
function deviceFile(folder: string, peak: Record<string, number>) {
  Deno.writeTextFileSync(
    `${folder}/cpu/device.json`,
    JSON.stringify({
      device: "CPU",
      arch: "x86_64",
      harness: "0.1.0",
      run: "r2",
      calibration: { marker_us: 1, launch_us: 2, load: [], peak },
    }),
  );
}

Deno.test("import shows what it replaces, and --dry-run leaves it at that", async () => {
  const path = Deno.makeTempDirSync();
  try {
    const [old, fresh] = [`${path}/results`, `${path}/new`];
    await results(old, [row("naive", "8", "r1"), row("openblas", "4", "r1")]);
    await results(fresh, [row("naive", "16", "r2")]);
    deviceFile(old, { bf16: 1, f32: 1 });
    deviceFile(fresh, { f32: 2 });
    const csv = `${old}/cpu/matmul-fp32.csv`;
    const before = Deno.readTextFileSync(csv);

    const dry = await run("import", fresh, "--into", old, "--dry-run");
    assertEquals([dry.code, dry.stderr], [0, ""]);
    assertMatch(
      dry.stdout,
      /1 row measured, 1 kept as they were\n {2}slower .*8\.000 -> 16\.00 µs/,
    );
    assertMatch(dry.stdout, /nothing was written\n$/);
    assertEquals(Deno.readTextFileSync(csv), before);

    const done = await run("import", fresh, "--into", old);
    assertEquals(done.code, 0);
    assertMatch(done.stdout, /slower .*8\.000 -> 16\.00 µs/);
    const rows = readCsv(Deno.readTextFileSync(csv), csv);
    assertEquals(
      rows.map(({ kernel, median_us, run }) => [kernel, median_us, run]),
      [["naive", "16", "r2"], ["openblas", "4", "r1"]],
    );
    const samples = await readSamples(
      `${old}/cpu/matmul-fp32.samples.jsonl.gz`,
      rows,
    );
    assertEquals(
      rows.map((own) => parseSamples(samples.get(keyText(own))![0]!).run),
      ["r2", "r1"],
    );
    assertEquals(
      JSON.parse(Deno.readTextFileSync(`${old}/cpu/device.json`)).calibration
        .peak,
      { bf16: 1, f32: 2 },
    );

    const again = await run("import", fresh, "--into", old);
    assertMatch(again.stdout, /0 slower.* 1 same/);
  } finally {
    Deno.removeSync(path, { recursive: true });
  }
});

Deno.test("import leaves a time in its place where the new row failed", async () => {
  using folder = temporary();
  const [old, fresh] = [`${folder.path}/results`, `${folder.path}/new`];
  await results(old, [row("naive", "8", "r1")]);
  await results(fresh, [row("openblas", "4", "r2")]);
  const csv = `${fresh}/cpu/matmul-fp32.csv`;
  const failed = (kernel: string) => ({
    ...publishedRow({
      ...FP32_CASE,
      kernel,
      status: "compile",
      note: "no",
      run: "r2",
      harness: "0.1.0",
    }),
    tflops: "",
    gbps: "",
  });
  const [measured] = readCsv(Deno.readTextFileSync(csv), csv);
  Deno.writeTextFileSync(
    csv,
    writeCsv([measured!, failed("naive"), failed("other")]),
  );
  const { code, stdout, stderr } = await run("import", fresh, "--into", old);
  assertEquals(stderr, "");
  assertEquals(code, 0);
  assertMatch(
    stdout,
    /failed rows that replace no time: 1\n {2}broken .*naive/,
  );
  const into = `${old}/cpu/matmul-fp32.csv`;
  const rows = readCsv(Deno.readTextFileSync(into), into);
  assertEquals(
    rows.map(({ kernel, status, run }) => [kernel, status, run]),
    [["naive", "ok", "r1"], ["openblas", "ok", "r2"], [
      "other",
      "compile",
      "r2",
    ]],
  );
  const samples = `${old}/cpu/matmul-fp32.samples.jsonl.gz`;
  assertEquals((await readSamples(samples, rows)).size, 2);
});

Deno.test("import records a device that had none, and refuses a CSV in no device's folder", async () => {
  const path = Deno.makeTempDirSync();
  try {
    await results(`${path}/new`, [row("naive", "16", "r2")]);
    const { code, stdout } = await run(
      "import",
      `${path}/new`,
      "--into",
      `${path}/results`,
    );
    assertEquals(code, 0);
    assertMatch(stdout, /new: there is nothing that it replaces/);
    assertEquals(
      Deno.readTextFileSync(`${path}/results/cpu/matmul-fp32.csv`),
      Deno.readTextFileSync(`${path}/new/cpu/matmul-fp32.csv`),
    );
    assert(
      Deno.statSync(`${path}/results/cpu/matmul-fp32.samples.jsonl.gz`).isFile,
    );

    const { code: refused, stderr } = await run("import", `${path}/new/cpu`);
    assertEquals(refused, 2);
    assertMatch(
      stderr,
      /^error: Cannot import (\S+)\/new\/cpu\/.*: it is in no folder of a device below \1\/new\/cpu; give the folder above, `import \1\/new`\n$/,
    );
  } finally {
    Deno.removeSync(path, { recursive: true });
  }
});

Deno.test("import refuses rows of another suite than their file or of two devices, and damaged ones", async () => {
  const path = Deno.makeTempDirSync();
  try {
    const [old, fresh] = [`${path}/results`, `${path}/new`];
    await results(old, [row("naive", "8", "r1")]);
    await results(fresh, [row("naive", "16", "r2")]);
    const mixed = `${fresh}/cpu/mixed.csv`;
    Deno.renameSync(`${fresh}/cpu/matmul-fp32.csv`, mixed);
    const twice = await run("import", fresh, "--into", old);
    assertEquals(twice.code, 2);
    assertMatch(
      twice.stderr,
      /^error: Cannot import \S+mixed\.csv: line 2 is of suite matmul-fp32; give the folder that `bench --out` wrote$/m,
    );
    assertEquals(
      [...Deno.readDirSync(`${old}/cpu`)].map(({ name }) => name).toSorted(),
      ["matmul-fp32.csv", "matmul-fp32.samples.jsonl.gz"],
    );
    Deno.removeSync(mixed);
    await results(`${path}/mixed`, [row("naive", "16", "r2")]);
    Deno.renameSync(
      `${path}/mixed/cpu/matmul-fp32.csv`,
      `${path}/mixed/cpu/mixed.csv`,
    );
    const none = await run("import", `${path}/mixed`, "--into", `${path}/none`);
    assertEquals(none.code, 2);
    assertEquals(unlessMissing(() => Deno.statSync(`${path}/none`)), undefined);
    const other = { ...row("naive", "32", "r2"), device: "GPU" };
    await results(fresh, [row("naive", "16", "r2"), other]);
    const strange = await run("import", fresh, "--into", old);
    assertMatch(
      strange.stderr,
      /matmul-fp32\.csv: line 3 is of device GPU, and the first row of CPU; /,
    );
    await results(fresh, [{ ...row("naive", "16", "r2"), device: "cpu" }]);
    const replaced = await run("import", fresh, "--into", old, "--dry-run");
    assertEquals(replaced.code, 2);
    assertMatch(
      replaced.stderr,
      /matmul-fp32\.csv: it is of device CPU, and the new rows are of cpu; move/,
    );
    // A device file alone counts too, also where the source has none.
    const alone = `${path}/alone`;
    Deno.mkdirSync(`${alone}/cpu`, { recursive: true });
    deviceFile(alone, {});
    const beside = await run("import", fresh, "--into", alone);
    assertMatch(
      beside.stderr,
      /device\.json: it is of device CPU, and the new rows are of cpu; move/,
    );
    await results(fresh, [row("naive", "16", "r2")]);
    Deno.copyFileSync(`${fresh}/cpu/matmul-fp32.csv`, `${old}/cpu/beside.csv`);
    const clash = await run("import", fresh, "--into", old);
    assertMatch(
      clash.stderr,
      /^error: Cannot read \S+matmul-fp32\.csv: line \d, .* the same case as on line 2 of \S+beside\.csv; give a folder/m,
    );
    Deno.removeSync(`${old}/cpu/beside.csv`);

    Deno.writeTextFileSync(`${old}/cpu/matmul-fp32.csv`, "suite,op\n1\n");
    const damaged = await run("import", fresh, "--into", old);
    assertEquals(damaged.code, 2);
    assertMatch(damaged.stderr, /matmul-fp32\.csv/);
  } finally {
    Deno.removeSync(path, { recursive: true });
  }
});

Deno.test("import keeps the rows of all that import at the same moment", async () => {
  using folder = temporary();
  const { path } = folder;
  const names = Array.from({ length: 8 }, (_, i) => `k${i}`);
  for (const name of names) {
    await results(`${path}/${name}`, [row(name, "8", name)]);
  }
  const ends = await Promise.all(
    names.map((name) =>
      run("import", `${path}/${name}`, "--into", `${path}/all`)
    ),
  );
  assertEquals(ends.map(({ code }) => code), names.map(() => 0));
  const csv = `${path}/all/cpu/matmul-fp32.csv`;
  const rows = readCsv(Deno.readTextFileSync(csv), csv);
  assertEquals(rows.map(({ kernel }) => kernel).toSorted(), names);
  const samples = await readSamples(
    `${path}/all/cpu/matmul-fp32.samples.jsonl.gz`,
    rows,
  );
  assertEquals(samples.size, names.length);
});

Deno.test("import takes a folder, and no pattern that would put files elsewhere", async () => {
  using folder = temporary();
  const { path } = folder;
  await results(`${path}/new`, [row("naive", "8", "r")]);
  const { code, stderr } = await run("import", `${path}/n*`, "--into", path);
  assertEquals(code, 2);
  assertMatch(
    stderr,
    /it is in no folder of a device below .*\/n\*; give the folder above, `/,
  );
  assertEquals([...Deno.readDirSync(path)].map(({ name }) => name), ["new"]);
});

Deno.test("import follows no link out of its folder, and removes what a killed one left", async () => {
  using folder = temporary();
  const { path } = folder;
  await results(`${path}/new`, [row("naive", "8", "r")]);
  Deno.mkdirSync(`${path}/victim`);
  Deno.mkdirSync(`${path}/all`);
  Deno.symlinkSync("../victim", `${path}/all/cpu`);
  Deno.mkdirSync(`${path}/tmp/mnkbench-import-left`, { recursive: true });
  const take = () =>
    program(
      ["import", `${path}/new`, "--into", `${path}/all`],
      { env: { TMPDIR: `${path}/tmp` } },
    );
  const { code, stderr } = await take();
  assertEquals(code, 2);
  assertMatch(stderr, /^error: Cannot write .*cpu: a link leads out of .*\n$/);
  assertEquals([...Deno.readDirSync(`${path}/victim`)], []);
  assertEquals([...Deno.readDirSync(`${path}/tmp`)], []);
  Deno.removeSync(`${path}/all/cpu`);
  Deno.mkdirSync(`${path}/all/cpu`);
  for (const name of ["matmul-fp32.csv.0a1b.tmp", ".lock"]) {
    Deno.writeTextFileSync(`${path}/all/cpu/${name}`, "half");
  }
  assertEquals((await take()).code, 0);
  assertEquals(
    [...Deno.readDirSync(`${path}/all/cpu`)].map(({ name }) => name).toSorted(),
    ["matmul-fp32.csv", "matmul-fp32.samples.jsonl.gz"],
  );
});

Deno.test("import says in one line that there is no place for temporary files", async () => {
  using folder = temporary();
  const { path } = folder;
  await results(`${path}/new`, [row("naive", "8", "r")]);
  const { code, stderr } = await program(
    ["import", `${path}/new`, "--into", `${path}/all`],
    { env: { TMPDIR: `${path}/missing` } },
  );
  assertEquals(code, 2);
  assertMatch(
    stderr,
    /^error: Cannot make a temporary folder: .*set TMPDIR to another\n$/,
  );
});

Deno.test("import refuses a row whose suite would lead out of its folder", async () => {
  using folder = temporary();
  const { path } = folder;
  const rows = [{ ...row("naive", "8", "r"), suite: "../outside/notes" }];
  await results(`${path}/new`, rows);
  const { code, stderr } = await run(
    ...["import", `${path}/new`, "--into", `${path}/all`],
  );
  assertEquals(code, 2);
  assertMatch(
    stderr,
    /line 2, column suite is .*it must be the name of a suite/,
  );
});

Deno.test("import names the lock that it waits for", async () => {
  using folder = temporary();
  const { path } = folder;
  await results(`${path}/new`, [row("naive", "8", "r")]);
  Deno.mkdirSync(`${path}/all/cpu`, { recursive: true });
  const lock = await lockFolder(`${path}/all/cpu`);
  const child = start(["import", "new", "--into", "all"], path);
  // It has nothing else to say there.
  const said = child.stderr.getReader();
  const { value } = await said.read();
  lock[Symbol.dispose]();
  assertEquals(
    new TextDecoder().decode(value),
    "Waiting for another process, which has locked all/cpu/.lock\n",
  );
  while (!(await said.read()).done);
  await child.stdout.cancel();
  assertEquals((await child.status).code, 0);
});

const cases = await casesAnywhere({
  suites: ["matmul-fp32"],
  kernels: ["naive", "openblas"],
  where: {},
  overrides: { m: [16], n: [16], k: [64, 128] },
  quick: false,
  backend: "cpu",
  device: 0,
});

/** Writes the rows of one of two shards, but for the first `lost`. */
async function shard(
  folder: string,
  index: number,
  { commit = "c", source_commit = "", lost = 0, run = `r${index}` } = {},
) {
  const parts = deal(cases, 2);
  const own = parts[index - 1]!.map(keyOf);
  const rows = own.slice(lost).map((key) => ({
    ...row(key.kernel, "8", run),
    ...key,
    source_commit,
  }));
  await results(folder, rows);
  const selection = {
    suites: [],
    kernels: [],
    backend: "cpu",
    device: 0,
    where: {},
    points: "all" as const,
    overrides: {},
    shard: { index, count: 2 },
  };
  writeShardFile(folder, {
    run,
    commit,
    parts,
    info: {
      selection,
      settings: { ...DEFAULTS, cacheDir: folder },
      runs: 1,
      harness: "0.1.0",
      device: "CPU",
      arch: "x86_64",
      command: [],
      started: "",
    },
  });
}

Deno.test("import joins shards, and says which cases are missing", async () => {
  using folder = temporary();
  const { path } = folder;
  await shard(`${path}/1`, 1);
  await shard(`${path}/2`, 2, { lost: 1 });
  const into = ["--into", `${path}/all`];
  const one = await run("import", `${path}/1`, ...into, "--dry-run");
  assertEquals(one.code, 1);
  assertMatch(one.stdout, /^Missing of shard 2\/2: 2 cases, all that it has$/m);
  const both = await run("import", `${path}/1`, `${path}/2`, ...into);
  assertEquals([both.code, both.stderr], [1, ""]);
  assertMatch(
    both.stdout,
    /\nMissing of shard 2\/2: 1 case\n {2}matmul-fp32 \w+ 16×16×\d+ nn .*\n$/,
  );
  await shard(`${path}/2`, 2);
  const again = await run("import", `${path}/1`, `${path}/2`, ...into);
  assertEquals(again.code, 0);
  assertNotMatch(again.stdout, /commits/);
  const csv = `${path}/all/cpu/matmul-fp32.csv`;
  const rows = readCsv(Deno.readTextFileSync(csv), csv);
  assertEquals(
    rows.map(keyText).toSorted(),
    cases.map((c) => keyText({ ...rows[0]!, ...keyOf(c) })).toSorted(),
  );
  const samples = await readSamples(
    csv.replace("csv", "samples.jsonl.gz"),
    rows,
  );
  assertEquals(samples.size, cases.length);
});

Deno.test("import names the suites whose shards are of several commits of their repository", async () => {
  using folder = temporary();
  const { path } = folder;
  await shard(`${path}/1`, 1, { source_commit: "a0" });
  await shard(`${path}/2`, 2, { source_commit: "a1+" });
  const { code, stdout } = await run(
    ...["import", `${path}/1`, `${path}/2`, "--into", `${path}/all`],
  );
  assertEquals(code, 0, stdout);
  assertMatch(
    stdout,
    /^The rows of matmul-fp32 are of 2 commits of its repository: a0, a1\+$/m,
  );
});

Deno.test("joinShards() replaces older rows also by those that failed, and refuses to lose one", async () => {
  using folder = temporary();
  const { path } = folder;
  const all = `${path}/all`;
  const files = [1, 2].map((index) => filesOf({ folder: path }, index));
  const read = () => {
    const csv = `${all}/cpu/matmul-fp32.csv`;
    return readCsv(Deno.readTextFileSync(csv), csv);
  };
  await shard(`${path}/1`, 1);
  await shard(`${path}/2`, 2);
  const { rows, paths, runs } = await joinShards(files, all);
  assertEquals(rows.length, cases.length);
  assertEquals(paths, [`${all}/cpu/matmul-fp32.csv`]);
  assertEquals(runs, ["r1", "r2"]);
  assertEquals(new Set(read().map(({ status }) => status)), new Set(["ok"]));
  const csv = `${path}/1/cpu/matmul-fp32.csv`;
  const empty = { median_us: "", q1_us: "", q3_us: "", min_us: "" };
  const failed = readCsv(Deno.readTextFileSync(csv), csv).map((one) => ({
    ...one,
    ...empty,
    mean_us: "",
    tflops: "",
    gbps: "",
    status: "compile" as const,
    note: "no",
  }));
  Deno.writeTextFileSync(csv, writeCsv(failed));
  Deno.removeSync(csv.replace("csv", "samples.jsonl.gz"));
  await joinShards(files, all);
  assertEquals(
    read().filter(({ status }) => status === "compile").map(keyText),
    failed.map(keyText),
  );
  await shard(`${path}/2`, 2, { lost: 1 });
  await assertRejects(() => joinShards(files, all), UserError, "rows are");
});

Deno.test("import counts the rows of a shard in its own folder, and names others there", async () => {
  using folder = temporary();
  const { path } = folder;
  // One that shard 2 lost stands beside the rows of shard 1, as a later row of no shard does.
  await shard(`${path}/1`, 1);
  await shard(`${path}/2`, 2, { lost: 1 });
  const moved = keyOf(deal(cases, 2)[1]![0]!);
  const file = `${path}/1/cpu/matmul-fp32.csv`;
  const more = [
    { ...row(moved.kernel, "8", "r2"), ...moved },
    row("later", "8", "r9"),
  ];
  const own = readCsv(Deno.readTextFileSync(file), file);
  Deno.writeTextFileSync(file, writeCsv([...own, ...more]));
  const { code, stdout } = await run(
    ...["import", `${path}/1`, `${path}/2`, "--into", `${path}/all`],
  );
  assertEquals(code, 1, stdout);
  assertMatch(stdout, /^Left out of .*1: 2 rows of no shard there$/m);
  assertMatch(stdout, /^Missing of shard 2\/2: 1 case$/m);
});

Deno.test("import refuses what is no shard of the same run, by name", async () => {
  using folder = temporary();
  const { path } = folder;
  await shard(`${path}/1`, 1);
  await shard(`${path}/other`, 2, { commit: "d" });
  await shard(`${path}/again`, 1, { run: "q" });
  await results(`${path}/bare`, [row("naive", "8", "r")]);
  const refused: readonly (readonly [string, RegExp])[] = [
    [
      "other",
      /other\/shard-2-of-2\.json: its commit is d, and that of .* is c; /,
    ],
    ["again", /shard-1-of-2\.json: .* is shard 1\/2 too; import only one/],
    ["bare", /bare with the shard in .*: it has no file shard-I-of-N\.json/],
  ];
  for (const [name, text] of refused) {
    const { code, stderr } = await run(
      ...["import", `${path}/1`, `${path}/${name}`, "--into", `${path}/all`],
    );
    assertEquals(code, 2);
    assertMatch(stderr, text);
  }
  // Two that have the same case, as their suites changed between them.
  await shard(`${path}/2`, 2);
  const file = (name: string) => `${path}/${name}/cpu/matmul-fp32.csv`;
  const [first] = readCsv(Deno.readTextFileSync(file("1")), "1");
  const own = readCsv(Deno.readTextFileSync(file("2")), "2");
  const twice = [...own, { ...first!, run: "r2" }];
  Deno.writeTextFileSync(file("2"), writeCsv(twice));
  const { code, stderr } = await run(
    ...["import", `${path}/1`, `${path}/2`, "--into", `${path}/all`],
  );
  assertEquals(code, 2);
  assertMatch(stderr, /2\/cpu\/matmul-fp32\.csv: line 4, .* the same case as/);
  assertEquals(stat(`${path}/all/cpu/matmul-fp32.csv`), false);
});

function stat(path: string): boolean {
  return unlessMissing(() => Deno.statSync(path)) !== undefined;
}
