import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertMatch,
} from "@std/assert";
import { fileURLToPath } from "node:url";
import { writeCsv } from "../../bench/row/csv.ts";
import { publishedRow } from "../../report/import/foreign.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { program, type Ran } from "../testdata/program.ts";
import { temporary } from "../../bench/testdata/temporary.ts";

const V3 = "results/published/decompose-k-v3";
const SOURCES = fileURLToPath(
  new URL("../../report/import/testdata/", import.meta.url),
);

function run(...args: string[]): Promise<Ran> {
  return program(args);
}

Deno.test("table shows published rows with their wins", async () => {
  const { code, stdout, stderr } = await run(
    ..."table --suite matmul-fp32 --wins".split(" "),
    V3,
  );
  assertEquals([code, stderr], [0, ""]);
  assertEquals(
    stdout,
    `matmul-fp32 on NVIDIA H100: how many times as fast as torch.mm
kernel             wins/ties/losses    min  median    max  geomean
compiled-torch.mm            23/0/5  0.976   1.100  1.228    1.089
custom-op-mm                 28/0/0  1.034   1.310  1.608    1.309
decomposeK                   28/0/0  1.275   1.471  1.879    1.485
`,
  );
});

Deno.test("table --metric shows shares of SOL and scores, and refuses what it has not", async () => {
  const of = (words: string) =>
    run(
      ...`table results/nvidia-h200/epilogue-bf16.csv --timer graph ${words}`
        .split(" "),
    );
  const { code, stdout, stderr } = await of(
    "--metric score,sol --kernel cluster-k --against torch-eager",
  );
  assertEquals([code, stderr], [0, ""]);
  assertMatch(
    stdout,
    /^share of SOL +cluster-k +torch-eager\n\S+ +\d\d\.\d %\* +\d\d\.\d %$/m,
  );
  assertMatch(
    stdout,
    /^SOL score +cluster-k +torch-eager\n\S+ +0\.\d{3}\* +0\.500$/m,
  );
  const { stdout: lacking } = await of("--metric score --kernel cluster-k");
  assertMatch(lacking, /name one with --against\n$/);
  const unknown = await of("--metric speed");
  assertEquals(unknown.code, 2);
  assertMatch(
    unknown.stderr,
    /^error: No metric is named speed: there are sol, score\n$/,
  );
  const wins = await of("--metric sol --wins");
  assertMatch(wins.stderr, /^error: --metric is for --format text and md/);
});

Deno.test("table takes a kernel by its run where several runs have one", async () => {
  const line = (version: string) =>
    `table results/published/decompose-k-v[12]/matmul-bf16.csv --wins --format csv --against decomposeK${version}`
      .split(" ");
  const { code, stdout } = await run(...line("@decompose-k-v1"));
  assertEquals(code, 0);
  assertMatch(
    stdout,
    /,decomposeK@decompose-k-v2,decomposeK@decompose-k-v1,28,0,0,0,/,
  );
  const { code: refused, stderr } = await run(...line(""));
  assertEquals(refused, 2);
  assertMatch(
    stderr,
    /^error: Several runs have a kernel decomposeK: name one of decomposeK@decompose-k-v1, /,
  );
});

Deno.test("table says why there is nothing to count, or no run to choose", async () => {
  using folder = temporary();
  const file = `${folder.path}/own.csv`;
  const failed = { status: "launch", median_us: "", kernel: "broken" };
  Deno.writeTextFileSync(file, writeCsv([csvRow(), csvRow(failed)]));
  const wins = await run("table", "--wins", "--against", "kernel", file);
  assertEquals(wins.code, 2);
  assertMatch(
    wins.stderr,
    /^error: No shape has a time both of kernel and of an/,
  );
  const runs = await run("table", "--run", "x", file);
  assertEquals(runs.code, 2);
  assertEquals(
    runs.stderr,
    "error: No published run is in these rows: leave out x\n",
  );
});

Deno.test("table keeps the baseline beside the kernels that were asked for", async () => {
  const { stdout } = await run(
    ..."table --suite matmul-bf16 --kernel decomposeK --baseline custom-op-mm --format json"
      .split(" "),
    V3,
  );
  const [table] = JSON.parse(stdout);
  assertEquals(
    table.kernels.map(({ name }: { name: string }) => name),
    ["custom-op-mm", "decomposeK"],
  );
  assertEquals(table.wins[0].wins, 28);
});

Deno.test("table --published puts figures at the same shapes beside ours, marked", async () => {
  using folder = temporary();
  const own = publishedRow({
    ...{ suite: "matmul-fp32", kernel: "cublas", backend: "cuda" },
    ...{ a_type: "f32", b_type: "f32", c_type: "f32", layout: "nn" },
    ...{ m: "16", n: "16", k: "8192", params: "epilogue=none" },
    ...{ device: "NVIDIA H200", harness: "0.1.0", median_us: "7.6" },
  });
  const file = `${folder.path}/own.csv`;
  Deno.writeTextFileSync(file, writeCsv([own]));
  const { code, stdout, stderr } = await run(
    ..."table --published --run decompose-k-v3 --kernel cublas,torch.mm"
      .split(" "),
    file,
  );
  assertEquals(code, 0);
  assertMatch(
    stderr,
    /^83 published rows are at other shapes and are not shown/,
  );
  assertEquals(
    stdout,
    `matmul-fp32 on NVIDIA H200
median µs          cublas  torch.mm[1]
16×16×8192         7.600*        15.20
geomean vs cublas  1.00x         0.50x
  * fastest at its shape
  [1] another machine's, published: NVIDIA H100, decompose-k-v3 (do_bench cold zero normal)
`,
  );
});

Deno.test("table --published --suite has a source's rows at the suite's points, whatever it is called", async () => {
  using folder = temporary();
  const own = publishedRow({
    ...{ suite: "decode-bf16-k7168", kernel: "dot", backend: "cuda" },
    ...{ a_type: "bf16", b_type: "bf16", c_type: "bf16", layout: "nt" },
    ...{ m: "1", n: "512", k: "7168", params: "epilogue=none" },
    ...{ device: "NVIDIA H200", harness: "0.1.0", median_us: "4.5" },
  });
  Deno.writeTextFileSync(`${folder.path}/own.csv`, writeCsv([own]));
  const line =
    "table --published --run aiter-gfx950-256cu --suite decode-bf16-k7168";
  const { code, stdout } = await run(...line.split(" "), folder.path);
  assertEquals(code, 0);
  assertEquals(
    stdout,
    `decode-bf16-k7168 on NVIDIA H200
median µs      dot  flydsl[1]
1×512×7168  4.500*      6.339
  * fastest at its shape
  [1] another machine's, published: AMD gfx950 (256 CUs), aiter-gfx950-256cu (perftest cold rotate normal, means)
`,
  );
  // Where nothing of the suite was measured, there is nothing that they could stand beside.
  const alone = "table --published --suite matmul-fp32 --format csv";
  const other = await run(...alone.split(" "), folder.path);
  assertEquals(other.code, 0);
  assertEquals(/flydsl|matmul-bf16/.test(other.stdout), false);
  assertMatch(other.stdout, /^matmul-fp32,NVIDIA H100,/m);
});

Deno.test("table reads published rows that have a mean and no median", async () => {
  const { code, stdout, stderr } = await run(
    "table",
    "results/published/aiter-gfx950-256cu/aiter-kimi.csv",
  );
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^mean µs /m);
  assertMatch(
    stdout,
    /aiter-gfx950-256cu \(perftest cold rotate normal, means\)$/m,
  );
});

/** Arguments and the one line that they end with. */
const REFUSED: readonly (readonly [string, number, RegExp])[] = [
  [
    `table ${V3} --kernel decomposk`,
    2,
    /No kernel in these rows is named decomposk: did you mean/,
  ],
  [
    `table ${V3} --suite nope`,
    2,
    /No suite in these rows is named nope: there are epilogue-bf16/,
  ],
  [
    `table ${V3} --suite matmul-fp32 --kernel TLX-decomposeK`,
    3,
    /No row of kernel TLX-decomposeK is of suite matmul-fp32/,
  ],
  [
    `table ${V3} --wide`,
    2,
    /Cannot print 4 suites as one wide table: choose one with --suite/,
  ],
  [`table ${V3} --out x`, 2, /--out is for --wide/],
  [
    "table results/published/decompose-k-v* --wins",
    2,
    /No table has a baseline to count wins against: name a kernel, as with --against torch\.mm\+relu@decompose-k-v1$/m,
  ],
  ["table nowhere", 2, /Cannot read nowhere/],
  [
    `table ${V3}/matmul-fp32.csv ./cli/../${V3}/matmul-fp32.csv`,
    2,
    /line 2, .*the same case as on line 2 of/,
  ],
  [
    `table ${SOURCES}all_us.csv`,
    2,
    /all_us\.csv: line 1, column schema is missing/,
  ],
  ["import", 2, /Nothing to import: name a folder of results/],
  ["import deno.json", 2, /Cannot import deno\.json: /],
  [
    `import ${SOURCES}plain_matmul_fp32.csv`,
    2,
    /does not say which run it is of; give --run/,
  ],
  [
    "report --splice deno.lock",
    2,
    /Cannot splice deno\.lock: no line has a marker/,
  ],
];

for (const [line, wanted, why] of REFUSED) {
  const shown = line.replaceAll(SOURCES, "");
  Deno.test(`main refuses ${shown} with one line`, async () => {
    const { code, stdout, stderr } = await run(...line.split(" "));
    assertEquals(code, wanted, stderr);
    assertEquals(stdout, "");
    assertEquals(stderr.trim().split("\n").length, 1, stderr);
    assertMatch(stderr, /^error: /);
    assertMatch(stderr, why);
  });
}

const H200 = fileURLToPath(
  new URL("../../results/nvidia-h200/epilogue-bf16.csv", import.meta.url),
);

Deno.test("table --weights prints the exact formula of given speed-ups", async () => {
  // An article prints 1.041, 1.116 and 1.207 for these; the last two are wrong.
  const { code, stdout } = await program(
    [
      "table",
      "--weights",
      "--gemm-fraction",
      "0.85",
      "--speedup",
      "1.05,1.15,1.3",
    ],
  );
  assertEquals(code, 0);
  assertEquals(
    stdout,
    `1.05x in GEMMs: 1.0422x the whole
1.15x in GEMMs: 1.1247x the whole
1.3x in GEMMs: 1.2440x the whole
85 % of the time is in GEMMs: the whole becomes at most 6.67x as fast
`,
  );
});

Deno.test("table --weights takes speed-ups from rows and their baseline", async () => {
  const args = [
    "table",
    "--weights",
    "--gemm-fraction",
    "0.85",
    H200,
    "--kernel",
  ];
  const table = await program([...args, "decompose-k"]);
  assertEquals(table.code, 0, table.stderr);
  const lines = table.stdout.trimEnd().split("\n");
  assertMatch(lines[0]!, /^epilogue-bf16 on NVIDIA H200, against cublas$/);
  assertMatch(lines[1]!, /^shape +decompose-k +whole$/);
  assertMatch(lines[2]!, /^16×16×8192 +\d\.\d{3}x +\d\.\d{3}x$/);
  assertMatch(lines.at(-2)!, /^geomean +\d\.\d{3}x +\d\.\d{3}x$/);
  const { stdout } = await program([
    ...args,
    "decompose-k",
    "--format",
    "json",
  ]);
  const rows: {
    device: string;
    speedup: number;
    end_to_end: number;
    kernel: string;
  }[] = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(
    new Set(rows.map(({ kernel }) => kernel)),
    new Set(["decompose-k"]),
  );
  for (const { device, speedup, end_to_end } of rows) {
    assertEquals(device, "NVIDIA H200");
    assertAlmostEquals(end_to_end, 1 / (1 - 0.85 + 0.85 / speedup), 1e-6);
  }
});

Deno.test("table --weights has a line a kernel where there are many, within a screen", async () => {
  const args = ["table", "--weights", "--gemm-fraction", "0.85", H200];
  const { code, stdout, stderr } = await program(args);
  assertEquals(code, 0, stderr);
  const lines = stdout.trimEnd().split("\n");
  assertMatch(lines[1]!, /^kernel +shapes +GEMM +whole +least +most$/);
  const one = lines.find((line) => line.startsWith("decompose-k "))!;
  assertMatch(one, /^decompose-k( +\d+)( +\d\.\d{3}x){4}$/);
  assert(lines.every((line) => line.length <= 80), stdout);
  // The same means as those of its own table.
  const alone = await program([...args, "--kernel", "decompose-k"]);
  const foot = alone.stdout.trimEnd().split("\n").at(-2)!;
  assertEquals(one.split(/ +/).slice(2, 4), foot.split(/ +/).slice(1));
});

Deno.test("table --weights says a share as it was given", async () => {
  const { stdout } = await program(
    ["table", "--weights", "--gemm-fraction", "0.58", "--speedup", "1"],
  );
  assertMatch(stdout, /^58 % of the time/m);
});

Deno.test("table --weights refuses shares and speed-ups that are none", async () => {
  const of = (...args: string[]) => program(["table", "--weights", ...args]);
  const all = await Promise.all([
    of("--gemm-fraction", "1.5", "--speedup", "2"),
    of("--gemm-fraction", "0.5", "--speedup", "0"),
    of("--speedup", "2"),
    of("--gemm-fraction", "0.5", "--speedup", "2", H200),
  ]);
  assertEquals(all.map(({ code }) => code), [2, 2, 2, 2]);
  assertMatch(all[0]!.stderr, /1\.5 is no share: give 0 to 1, as in 0\.85/);
  assertMatch(all[1]!.stderr, /0 is no speed-up: give factors above 0/);
  assertMatch(all[3]!.stderr, /leave out one of them/);
});

Deno.test("table takes the file of a suite of one's own, and a usual baseline", async () => {
  using folder = temporary();
  const at = (name: string) => `${folder.path}/${name}`;
  const own = (kernel: string, us: string) =>
    csvRow({
      ...{ suite: "mine", kernel, median_us: us },
      ...{ q1_us: us, q3_us: us, mean_us: us },
    });
  const write = (...kernels: [string, string][]) =>
    Deno.writeTextFileSync(
      at("rows.csv"),
      writeCsv([
        csvRow(),
        ...kernels.map(([kernel, us]) => own(kernel, us)),
      ]),
    );
  Deno.writeTextFileSync(
    at("mine.ts"),
    `export default defineSuite({ name: "mine", kernels: [] });`,
  );
  Deno.writeTextFileSync(at("other.ts"), `export default {};`);
  const table = (file: string) =>
    run("table", at("rows.csv"), "--suite", at(file));

  write(["fast", "5"], ["naive", "10"]);
  const { code, stdout, stderr } = await table("mine.ts");
  assertEquals([code, stderr], [0, ""]);
  assertMatch(
    stdout,
    /^mine on .*\nmedian µs +naive +fast +fastest vs naive$/m,
  );
  assertMatch(stdout, /^geomean vs naive +1\.00x +2\.00x +2\.00x$/m);

  write(["fast", "5"], ["slow", "10"]);
  const without = await table("mine.ts");
  assertEquals(
    [without.code, without.stderr],
    [
      0,
      "mine has no baseline here: --baseline NAME, such as fast, gives speed-ups\n",
    ],
  );
  assertEquals(/geomean vs/.test(without.stdout), false);

  const other = await table("other.ts");
  assertEquals(other.code, 3);
  assertMatch(
    other.stderr,
    /^error: No row is of a suite that .*other\.ts names: .* one of s, mine, or/,
  );
  const none = await table("none.ts");
  assertEquals(none.code, 2);
  assertMatch(none.stderr, /^error: Cannot read .*none\.ts: there is no such/);
});
