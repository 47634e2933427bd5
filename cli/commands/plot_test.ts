import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { join } from "node:path";
import { writeCsv } from "../../bench/row/csv.ts";
import { KEY_COLUMNS } from "../../bench/row/row.ts";
import { formatSamples, writeSamples } from "../../bench/row/samples.ts";
import {
  failedRow,
  rowAt,
  samplesOf,
} from "../../report/testdata/plot_rows.ts";
import { program } from "../testdata/program.ts";

const ROWS = [4096, 8192, 12288].flatMap((k) => [
  rowAt("naive", [16, k, 20]),
  rowAt("mine", [16, k, 10 + k / 4096]),
  failedRow(rowAt("yours", [16, k, 9]), "wrong"),
]);

/** A folder with results of one small suite, removed at the end. */
async function folder(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir();
  const own = join(path, "results", "nvidia-h200");
  await Deno.mkdir(own, { recursive: true });
  await Deno.writeTextFile(join(own, "small.csv"), writeCsv(ROWS));
  const lines = ROWS.flatMap((row) =>
    samplesOf(row).map((samples_ns, repeat) => {
      const key = Object.fromEntries(KEY_COLUMNS.map((c) => [c, row[c]]));
      return formatSamples({
        key: key as never,
        run: row.run,
        repeat,
        samples_ns,
      });
    })
  );
  await writeSamples(join(own, "small.samples.jsonl.gz"), lines);
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

const plot = (cwd: string, ...args: string[]) =>
  program(["plot", ...args], { cwd });

async function filesIn(path: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const { name } of Deno.readDir(path)) {
    const bytes = await Deno.readFile(join(path, name));
    files.set(name, bytes.toBase64());
  }
  return files;
}

Deno.test("plot draws results into plots, the same bytes every time", async () => {
  await using results = await folder();
  const first = await plot(results.path);
  assertStrictEquals(first.code, 0, first.stderr);
  assertStrictEquals(
    first.stdout,
    "plots/nvidia-h200/small: 6 pictures, PNG and SVG\n",
  );
  const own = join(results.path, "plots", "nvidia-h200", "small");
  const files = await filesIn(own);
  assertEquals(
    [...files.keys()].toSorted(),
    [
      ...["fastest", "geomean", "overview", "roofline", "samples", "speedup"],
    ].flatMap((name) => [`${name}.png`, `${name}.svg`]),
  );
  assertStrictEquals((await plot(results.path)).code, 0);
  for (const [name, bytes] of await filesIn(own)) {
    assert(files.get(name) === bytes, name);
  }
});

Deno.test("plot --check says what is stale, missing and of no row", async () => {
  await using results = await folder();
  await plot(results.path);
  const fresh = await plot(results.path, "--check");
  assertEquals(
    [fresh.code, fresh.stdout],
    [0, "12 files are up to date\n"],
  );
  const own = join(results.path, "plots", "nvidia-h200", "small");
  // As in a repository that keeps only some.
  await Deno.remove(join(own, "geomean.svg"));
  const some = await plot(results.path, "--check");
  assertEquals(
    [some.code, some.stdout],
    [
      0,
      "11 files are up to date; 1 files that are not there were not checked\n",
    ],
  );
  await Deno.copyFile(join(own, "speedup.png"), join(own, "fastest.png"));
  await Deno.copyFile(join(own, "speedup.png"), join(own, "old.png"));
  const { code, stdout } = await plot(results.path, "--check");
  assertStrictEquals(code, 1);
  assertEquals(
    stdout.replaceAll(/\S*\/(?=[\w.]+\n)/g, "").split("\n").slice(0, -1),
    [
      "stale    fastest.png",
      "of no row, delete it  old.png",
    ],
  );
  const csv = join(results.path, "results", "nvidia-h200", "small.csv");
  const text = await Deno.readTextFile(csv);
  await Deno.writeTextFile(csv, text.replaceAll("H200", "H201"));
  const other = await plot(results.path, "--check");
  assertStrictEquals(other.code, 1);
  assertMatch(
    other.stdout,
    /^missing {2}.*nvidia-h201\/small, of which no picture is there$/m,
  );
});

Deno.test("plot --theme dark has files of its own", async () => {
  await using results = await folder();
  const out = ["--out", "pictures", "--theme", "dark"];
  assertStrictEquals((await plot(results.path, ...out)).code, 0);
  assertStrictEquals((await plot(results.path, ...out, "--check")).code, 0);
  const own = join(results.path, "pictures", "nvidia-h200", "small");
  for (const name of (await filesIn(own)).keys()) {
    assertMatch(name, /-dark\.\w+$/);
  }
});

/** Arguments, the exit code, and what the only line on standard error must have. */
const REFUSED: readonly (readonly [string, number, RegExp])[] = [
  [
    "--suite other",
    2,
    /No suite in these rows is named other: there are small/,
  ],
  ["empty", 3, /empty: no CSV of results/],
  ["zero.csv", 2, /zero\.csv: .*empty/],
  ["header.csv", 3, /no row has a time/],
  ["header.csv --suite small --kernel mine", 3, /no row has a time/],
  ["failed.csv", 3, /no row has a time/],
  ["nowhere.csv", 2, /nowhere\.csv: there is no such file/],
  ["--baseline other", 2, /--baseline must be one of naive, mine, yours/],
  [
    "results twice.csv",
    2,
    /twice\.csv: line 2, .*the same case as on line 2 of/,
  ],
];

for (const [args, code, line] of REFUSED) {
  Deno.test(`plot ${args} ends with ${code} and one line`, async () => {
    await using results = await folder();
    const file = (name: string) => join(results.path, name);
    await Deno.mkdir(file("empty"));
    await Deno.writeTextFile(file("zero.csv"), "");
    await Deno.writeTextFile(file("header.csv"), writeCsv([]));
    const failed = ROWS.filter(({ status }) => status !== "ok");
    await Deno.writeTextFile(file("failed.csv"), writeCsv(failed));
    await Deno.writeTextFile(file("twice.csv"), writeCsv(ROWS));
    const ran = await plot(results.path, ...args.split(" "));
    assertStrictEquals(ran.code, code, ran.stderr);
    const errors = ran.stderr.trimEnd().split("\n").filter((said) =>
      said.startsWith("error: ")
    );
    assertStrictEquals(errors.length, 1, ran.stderr);
    assertMatch(errors[0]!, line);
    assertStrictEquals(/\n {4}at /.test(ran.stderr), false, ran.stderr);
  });
}

Deno.test("plot and table show the timer of most rows, or --timer, and say so", async () => {
  await using results = await folder();
  const path = join(results.path, "results", "nvidia-h200", "small.csv");
  const graph = rowAt("naive", [16, 4096, 15]);
  await Deno.writeTextFile(
    path,
    writeCsv([...ROWS, { ...graph, timer: "graph" }]),
  );
  const said = await plot(results.path);
  assertStrictEquals(said.code, 0, said.stderr);
  assertMatch(
    said.stderr,
    /^Not shown: rows of other timers or caches, 1 by graph; choose with --timer/m,
  );
  const shown = async (...more: string[]) => {
    const { stdout, stderr } = await program(["table", path, ...more]);
    return `${stderr}${stdout}`;
  };
  assertMatch(await shown(), /1 by graph.*\n(.*\n)+.* 20\.00/);
  assertMatch(await shown("--timer", "graph"), /^small on .*\n.*\n.* 15\.00/);
  assertMatch(
    await shown("--timer", "batch:4"),
    /^error: No row is timed by batch:4: there are rows by do_bench; graph/,
  );
});

Deno.test("plot --kernel draws those alone, and says which there are", async () => {
  await using results = await folder();
  const own = await plot(results.path, "results", "--kernel", "mine,naive");
  assertStrictEquals(own.code, 0, own.stderr);
  const path = join(results.path, "plots", "nvidia-h200", "small");
  const svg = await Deno.readTextFile(join(path, "overview.svg"));
  assert(svg.includes(">mine<") && !svg.includes(">yours<"));
  const none = await plot(results.path, "results", "--kernel", "their");
  assertMatch(
    none.stderr,
    /error: No kernel in these rows is named their: there are naive, mine, yours/,
  );
  assertStrictEquals(none.code, 2);
});

/** A suite file with `baselines`, and rows of its suite `llm` of kernels of a CPU. */
async function llm(baselines: string, kernels: readonly string[]) {
  const own = await folder();
  await Deno.writeTextFile(
    join(own.path, "llm.ts"),
    `export default defineSuite({
  name: "llm",
  // baselines: ["yours"],
  baselines: ${baselines},
});
`,
  );
  const rows = kernels.map((kernel, i) => ({
    ...rowAt(kernel, [16, 4096, 20 - i]),
    suite: "llm",
  }));
  await Deno.writeTextFile(join(own.path, "rows.csv"), writeCsv(rows));
  return own;
}

/** What `plot` calls its speed-ups, and what `table` calls its means. */
async function baselinesOf(cwd: string, ...args: string[]) {
  const drawn = await plot(cwd, "rows.csv", "--out", "out", ...args);
  const table = await program(["table", "rows.csv", ...args], { cwd });
  const path = join(cwd, "out", "nvidia-h200", "llm", "speedup.svg");
  return [
    /Speed-up over ([\w-]+)/.exec(await Deno.readTextFile(path))?.[1],
    /geomean vs ([\w-]+)/.exec(table.stdout)?.[1],
    /.*lead is not drawn: (.*)/.exec(drawn.stderr)?.[1],
  ];
}

Deno.test("plot and table take one baseline: of --baseline, the suite's file, or the usual ones", async () => {
  await using own = await llm(
    `["absent", "decompose-k"]`,
    ["naive", "mine", "blocked", "decompose-k"],
  );
  const of = (...args: string[]) => baselinesOf(own.path, ...args);
  const kernels = ["--kernel", "mine,naive"];
  const file = ["--suite", "./llm.ts"];
  assertEquals(await of(), ["blocked", "blocked", undefined]);
  assertEquals(await of(...file), ["decompose-k", "decompose-k", undefined]);
  assertEquals(
    await of(...file, "--baseline", "naive"),
    ["naive", "naive", undefined],
  );
  assertEquals((await of(...kernels)).slice(0, 2), ["naive", "naive"]);
  const speedups = await program(
    ["table", "rows.csv", "--metric", "speedup", ...kernels],
    { cwd: own.path },
  );
  assertMatch(speedups.stdout, /^speed-up vs naive /m);
  const other = await plot(own.path, "results", ...file);
  assertStrictEquals(other.code, 3);
  assertMatch(
    other.stderr,
    /^error: No row is of a suite that \.\/llm\.ts names: /m,
  );
});

Deno.test("plot and table say that a suite file has no list of baselines", async () => {
  await using own = await llm("libraries", ["naive", "mine"]);
  for (const command of ["plot", "table"]) {
    const { code, stderr } = await program(
      [command, "rows.csv", "--suite", "./llm.ts"],
      { cwd: own.path },
    );
    assertStrictEquals(code, 0, stderr);
    assertMatch(
      stderr,
      /\.\/llm\.ts has no list of names as baselines: the usual ones/,
    );
  }
});

Deno.test("plot --check finds the repository's own pictures up to date", async () => {
  for (const suite of ["epilogue-bf16", "grouped-nvfp4", "router-bf16"]) {
    const { code, stdout } = await program(
      ["plot", "results/nvidia-h200", "--suite", suite, "--check"],
    );
    assertMatch(
      stdout,
      /^\d+ files are up to date; \d+ files that are not there/,
    );
    assertStrictEquals(code, 0);
  }
  const { code } = await program(
    ["plot", "results", "--suite", "router-bf16", "--check"],
  );
  assertStrictEquals(code, 0);
});

Deno.test("plot says in one line that its folder cannot be made", async () => {
  await using results = await folder();
  await Deno.writeTextFile(join(results.path, "file"), "");
  for (const out of ["file", "x".repeat(300)]) {
    const { code, stderr } = await plot(results.path, "--out", out);
    assertStrictEquals(code, 2, stderr);
    assertMatch(
      stderr,
      /^error: Cannot write .*: (Not a directory|File name too l)/m,
    );
  }
});
