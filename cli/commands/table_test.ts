import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { writeCsv } from "../../bench/row/csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { readCsv } from "../../bench/row/read_csv.ts";
import { RunFolder } from "../../bench/worker/run_folder.ts";
import { publishedRow } from "../../report/import/foreign.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { program, type Ran } from "../testdata/program.ts";
import { temporary } from "../../bench/testdata/temporary.ts";

const V3 = "results/published/decompose-k-v3.csv";
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
  a tie: the same time to the last recorded digit
`,
  );
});

Deno.test("table --metric shows a figure instead of times, and refuses what it has not", async () => {
  const of = (words: string) =>
    run(
      ...`table results/nvidia-h200/epilogue-bf16.csv --timer graph --metric ${words}`
        .split(" "),
    );
  const kernels = "--kernel cluster-k,torch-eager";
  const { code, stdout, stderr } = await of(
    `score --against torch-eager ${kernels}`,
  );
  assertEquals([code, stderr], [0, ""]);
  assertMatch(
    stdout,
    /^SOL score +torch-eager +cluster-k\n\S+ +0\.500 +0\.\d{3}\*$/m,
  );
  const { stdout: sol } = await of(`sol ${kernels}`);
  assertMatch(
    sol,
    /^share of SOL +torch-eager +cluster-k\n\S+ +\d\d\.\d % +\d\d\.\d %\*$/m,
  );
  const { stdout: lacking } = await of("score --kernel cluster-k");
  assertMatch(lacking, /name one with --against$/m);
  const unknown = await of("speed");
  assertEquals(unknown.code, 2);
  assertMatch(
    unknown.stderr,
    /^error: No metric is named speed: there are us, tflops, gbps, sol, score, /,
  );
  const wins = await of("sol --wins");
  assertMatch(wins.stderr, /^error: --metric is for --format text and md/);
});

Deno.test("table --tuning shows a library's search by class of shapes, as text or Markdown", async () => {
  const of = (words: string) =>
    run(..."table results/nvidia-h200/".concat(words, " --tuning").split(" "));
  const { code, stdout } = await of("autotune-fp16.csv");
  assertEquals(code, 0);
  assertMatch(
    stdout,
    /^autotune-fp16 on .*: cublaslt's heuristic and its search\n.*\nN power of 2, large M +\d+ +\d/,
  );
  const { stderr: csv } = await of("autotune-fp16.csv --format csv");
  assertMatch(csv, /^error: --tuning is for --format text and md: /);
  const { code: none, stderr } = await of("grouped-nvfp4.csv");
  assertEquals(none, 2);
  assertMatch(stderr, /^error: No table has times of a library's heuristic /m);
});

Deno.test("table takes a kernel by its run where several runs have one", async () => {
  const line = (version: string) =>
    `table results/published/decompose-k-v[12].csv --suite matmul-bf16 --wins --format csv --against decomposeK${version}`
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
    suite: "matmul-fp32",
    kernel: "cublas",
    backend: "cuda",
    a_type: "f32",
    b_type: "f32",
    c_type: "f32",
    layout: "nn",
    m: "16",
    n: "16",
    k: "8192",
    params: "epilogue=none",
    device: "NVIDIA H200",
    harness: "0.1.0",
    median_us: "7.6",
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
  * fastest of those shown
  [1] another machine's, published: NVIDIA H100, decompose-k-v3 (do_bench cold zero normal)
`,
  );
});

Deno.test("table --published --suite has a source's rows at the suite's points, whatever it is called", async () => {
  using folder = temporary();
  const own = publishedRow({
    suite: "decode-bf16-k7168",
    kernel: "dot",
    backend: "cuda",
    a_type: "bf16",
    b_type: "bf16",
    c_type: "bf16",
    layout: "nt",
    m: "1",
    n: "512",
    k: "7168",
    params: "epilogue=none",
    device: "NVIDIA H200",
    harness: "0.1.0",
    median_us: "4.5",
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
    "--suite",
    "aiter-kimi",
    "results/published/aiter-gfx950-256cu.csv",
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
    /No row has kernel TLX-decomposeK and suite matmul-fp32: leave out one of these options$/m,
  ],
  [
    `table ${V3} --suite matmul-fp32 --m 99`,
    3,
    /No row has suite matmul-fp32 and m 99: m is 16, 32, 48, 64$/m,
  ],
  [
    `table ${V3} --format decompose-k`,
    2,
    /Cannot make one wide table: suite is .* and .*; choose one with --suite/,
  ],
  [
    "table results/published/decompose-k-v*.csv --wins",
    2,
    /No table has a baseline to count wins against: name a kernel, as with --against torch\.mm\+relu@decompose-k-v1$/m,
  ],
  ["table nowhere", 2, /Cannot read nowhere/],
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

Deno.test("table --metric of several has a line a kernel, and a column a figure", async () => {
  const { code, stdout } = await program(
    [
      "table",
      H200,
      ...["--metric", "us,tflops,gbps,sol,speedup", "--top", "3"],
      ...["--m", "16", "--k", "8192"],
    ],
  );
  assertEquals(code, 0);
  const [, head, ...lines] = stdout.split("\n");
  assertMatch(
    head!,
    /^shape +kernel +median µs +TFLOP\/s +GB\/s +share of SOL +speed-up vs cublas$/,
  );
  assertEquals(
    lines.filter((line) => line.startsWith("16×16×8192 ")).length,
    3,
  );
  assertMatch(
    lines[0]!,
    /^16×16×8192 +cublas +~?\d+\.\d+ +±\d+% +~?0\.\d{3} +~?\d\d\.\d\d +~?\d\d\.\d % +1\.00x$/,
  );
});

Deno.test("table --axis, --where and --m choose shapes, and an unknown axis is named", async () => {
  const shapes = async (...words: string[]) => {
    const { stdout } = await program([
      "table",
      H200,
      ...words,
      "--format",
      "csv",
    ]);
    const [head, ...lines] = stdout.trimEnd().split("\n");
    const at = head!.split(",").indexOf("shape");
    return new Set(lines.map((line) => line.split(",")[at]));
  };
  assertEquals([...await shapes("--m", "16", "--k", "8192,12288")], [
    "16×16×8192",
    "16×16×12288",
  ]);
  assertEquals((await shapes("--axis", "m=16:32:16")).size, 14);
  assertEquals((await shapes("--where", "layout=nn", "--n", "64")).size, 7);
  // As `bench` calls the axis.
  assertEquals((await shapes("--where", "type=bf16", "--n", "64")).size, 7);
  const { code, stderr } = await program(["table", H200, "--where", "bits=4"]);
  assertEquals(code, 2);
  assertMatch(
    stderr,
    /^error: No axis in these rows is named bits: there are op, /,
  );
  const inherited = await program([
    ...["table", H200, "--where", "constructor=1"],
  ]);
  assertEquals(inherited.code, 2);
  assertMatch(inherited.stderr, /^error: No axis .* is named constructor: /m);
  const joined = await program(["table", H200, "--where", "layout=nn,m=16"]);
  assertEquals(joined.code, 2);
  assertMatch(
    joined.stderr,
    /^error: layout is m=16: give --where m=16 as an option of its own$/m,
  );
  const none = await program(["table", H200, "--m", "17"]);
  assertEquals(none.code, 3);
  assertMatch(none.stderr, /^error: No row has m 17: m is 16, 32, 48, 64$/m);
});

Deno.test("table --lines shows some shapes, and means over all", async () => {
  const of = async (...words: string[]) => {
    const { stdout } = await program(["table", H200, "--top", "2", ...words]);
    return stdout.split("\n").filter((line) => /^(\d+×|geomean)/.test(line));
  };
  const [all, three] = [await of(), await of("--lines", "3")];
  assertEquals(all.length, 29);
  // Columns are as wide as what is shown.
  const words = (line: string | undefined) => line!.split(/ +/);
  assertEquals(
    three.map(words),
    [all[0], all[14], all[27], all[28]].map(words),
  );
});

Deno.test("table takes the file of a suite of one's own, and a usual baseline", async () => {
  using folder = temporary();
  const at = (name: string) => `${folder.path}/${name}`;
  const own = (kernel: string, us: string) =>
    csvRow({
      suite: "mine",
      kernel,
      backend: "cpu",
      median_us: us,
      q1_us: us,
      q3_us: us,
      mean_us: us,
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
    `export default defineSuite({ name: "mine", kernels: [], baselines: ["slowest"] });`,
  );
  Deno.writeTextFileSync(at("other.ts"), `export default {};`);
  const table = (file: string) =>
    run("table", at("rows.csv"), "--suite", at(file));

  write(["fast", "5"], ["naive", "10"]);
  const { code, stdout, stderr } = await table("mine.ts");
  assertEquals([code, stderr], [0, ""]);
  assertMatch(
    stdout,
    /^mine on .*\nmedian µs +naive +fast +fast vs best other$/m,
  );
  assertMatch(stdout, /^geomean vs naive +1\.00x +2\.00x +2\.00x$/m);

  write(["fast", "5"], ["naive", "10"], ["slowest", "20"]);
  const { stdout: its } = await table("mine.ts");
  assertMatch(its, /^geomean vs slowest +1\.00x +4\.00x +2\.00x/m);

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

/** The rows of epilogue-bf16 in a folder of their own, some times as slow as recorded. */
function slowed(folder: string, factor: number): void {
  const rows = readCsv(Deno.readTextFileSync(H200), H200).map((row): CsvRow => {
    if (row.status !== "ok") return { ...row, run: "slowed" };
    const times =
      (["median_us", "q1_us", "q3_us", "min_us", "mean_us"] as const)
        .map((column) => [column, `${Number(row[column]) * factor}`] as const);
    const rates = (["tflops", "gbps"] as const)
      .map((column) => [column, `${Number(row[column]) / factor}`] as const);
    return {
      ...row,
      ...Object.fromEntries([...times, ...rates]),
      run: "slowed",
    };
  });
  Deno.mkdirSync(folder);
  Deno.writeTextFileSync(`${folder}/epilogue-bf16.csv`, writeCsv(rows));
}

Deno.test("table OLD NEW sets rows of the same cases side by side", async () => {
  using folder = temporary();
  slowed(`${folder.path}/new`, 1.25);
  const of = (...words: string[]) =>
    run(
      "table",
      H200.replace("/epilogue-bf16.csv", ""),
      `${folder.path}/new`,
      ...words,
    );
  const { code, stdout, stderr } = await of(
    "--kernel",
    "cluster-k",
    "--m",
    "16",
  );
  assertEquals(code, 0, stderr);
  const [title, head, ...lines] = stdout.split("\n");
  assertEquals(title, "epilogue-bf16 on NVIDIA H200");
  assertMatch(
    head!,
    /^shape +kernel +nvidia-h200 median µs +new median µs +new vs nvidia-h200$/,
  );
  const own = lines.filter((line) => line.startsWith("16×16×"));
  assertEquals(own.length, 7);
  for (const line of own) {
    const [, old, now, change] =
      /cluster-k +~?([\d.]+) +±\d+% +~?([\d.]+) +±\d+% +~?([\d.]+)x$/.exec(
        line,
      )!;
    assert(Math.abs(Number(now) / Number(old) - 1.25) < 0.001, line);
    assertEquals(change, "0.80");
  }
  assertMatch(stdout, /^mean +cluster-k +~?0\.80x$/m);
  const figures = await of(
    "--top",
    "2",
    "--metric",
    "us,speedup",
    "--lines",
    "1",
  );
  assertMatch(
    figures.stdout,
    /^16×16×8192 +cublas .* 1\.00x +.* 1\.00x +~?0\.80x$/m,
  );
  for (const words of [["--against", "cublas"], ["--wins"]]) {
    const wins = await of(...words);
    assertEquals(wins.code, 2);
    assertMatch(
      wins.stderr,
      /^error: Cannot count wins or add published rows where /,
    );
  }
  const score = await of("--metric", "score");
  assertMatch(
    score.stdout,
    /0\.5 is as fast as the fastest of cublas(, [a-z-]+)* of the same set$/m,
  );
});

Deno.test("table --wins counts against the baseline that --kernel leaves out", async () => {
  const { stdout } = await run(
    ...["table", "results/nvidia-h200/matmul-bf16.csv", "--timer", "graph"],
    ...["--wins", "--kernel", "cluster-k"],
  );
  assertMatch(stdout, /: how many times as fast as cublas$/m);
  assertMatch(stdout, /^cluster-k +28\/0\/0 /m);
});

Deno.test("table names the kernels asked for whose rows are by other timers", async () => {
  const { code, stdout, stderr } = await program([
    ...["table", "results/nvidia-h200/epilogue-bf16.csv", "--m", "16"],
    ...["--timer", "chain:32:pdl", "--kernel", "exchange-k,cluster-k"],
  ]);
  assertEquals(code, 0);
  // It cannot start early.
  assertMatch(stderr, /exchange-k is not shown: its rows are by graph/);
  assertEquals(/cluster-k is not shown/.test(stderr), false);
  assertMatch(stdout, /cluster-k/);
});

Deno.test("table refuses times that were not made of the samples beside them", async () => {
  using folder = temporary();
  const from = "results/nvidia-h200/epilogue-bf16";
  const [csv, samples] = ["csv", "samples.jsonl.gz"].map((kind) => {
    const to = `${folder.path}/epilogue-bf16.${kind}`;
    Deno.copyFileSync(`${from}.${kind}`, to);
    return to;
  }) as [string, string];
  const half = (text: string) => text && `${Number(text) / 2}`;
  const rows = readCsv(Deno.readTextFileSync(csv), csv).map((row) => ({
    ...row,
    ...(row.kernel === "cluster-k" && row.timer === "graph"
      ? {
        median_us: half(row.median_us),
        mean_us: half(row.mean_us),
        q1_us: half(row.q1_us),
        q3_us: half(row.q3_us),
        min_us: half(row.min_us),
        sol_us: half(row.sol_us),
        tflops: "",
        gbps: "",
      }
      : {}),
  }));
  Deno.writeTextFileSync(csv, writeCsv(rows));
  const { code, stdout, stderr } = await run("table", csv);
  assertEquals([code, stdout], [2, ""]);
  assertMatch(
    stderr,
    /^error: Cannot read \S+samples\.jsonl\.gz: line \d+ is of cluster-k at /,
  );
  Deno.removeSync(samples);
  assertEquals((await run("table", csv)).code, 0);
});

Deno.test("table reads a file once that several paths lead to", async () => {
  const file = V3;
  const [once, twice] = [
    await run("table", file),
    await run("table", file, `./cli/../${file}`),
  ];
  assertEquals([twice.code, twice.stdout], [0, once.stdout]);
});

Deno.test("table --row shows one row in full, and names those that it could be", async () => {
  const of = (words: string) => run("table", H200, "--row", words);
  const { code, stdout, stderr } = await of("cluster-k 16x16x8192 graph");
  assertEquals([code, stderr], [0, ""]);
  assertMatch(
    stdout,
    /^epilogue-bf16 cluster-k cuda 16×16×8192 nn epilogue=relu graph$/m,
  );
  for (
    const line of [
      /^ +time +median \d.* µs.*, quartiles .* samples(, \d+ runs, ±.* µs)?$/m,
      /^ +work +4\.194 Mflop, 524\.8 kB, 8\.0 flop\/B$/m,
      /^ +speed of light +\d.* µs: \d+ % of it is reached$/m,
      /^ +limited by +\S/m,
      // The kernel cache may have the kernel, from a run of whoever tests.
      /^ +registers, spills +(not recorded|\w+: \d+ registers, \d+ B of local memory a thread)$/m,
      /^ +waves +not recorded$/m,
      /^ +clocks +SM \d+ MHz, memory/m,
      /^ +profile +ncu --set full .* bench --suite epilogue-bf16 --kernel cluster-k --backend cuda --m 16 --n 16 --k 8192 .*--once$/m,
    ]
  ) assertMatch(stdout, line);
  const several = await of("cluster-k m=16");
  assertEquals(several.code, 2);
  assertMatch(
    several.stderr,
    /^error: 14 rows are named by cluster-k m=16: add words of one of .*; \.\.\.$/m,
  );
  const failed = await of("torch-dynamic 16×16×8192");
  assertMatch(failed.stdout, /^ +status +unsupported: A dynamic graph/m);
  assertEquals((await of("none 16x16x8192")).code, 3);
});

Deno.test("table says that a run is in progress, and where its rows will be", async () => {
  using folder = temporary();
  const info = {
    harness: "0.2.0",
    device: "Fake 1",
    arch: "fake",
    selection: {},
    settings: {},
    runs: 1,
    out: "/somewhere/new",
    command: ["bench", "--quick"],
    started: "2026-11-23T00:00:00Z",
  };
  using going = new RunFolder(`${folder.path}/.runs`, "one");
  Deno.writeTextFileSync(going.file("run.json"), JSON.stringify(info));
  const file = fileURLToPath(
    new URL(`../../${V3}`, import.meta.url),
  );
  const shown = () => program(["table", file], { cwd: folder.path });
  const { code, stderr } = await shown();
  assertEquals(code, 0);
  assertEquals(
    stderr,
    "A run is in progress, `bench --quick`: its rows are in .runs/one and come to /somewhere/new when it ends\n",
  );
  going[Symbol.dispose]();
  assertEquals((await shown()).stderr, "");
});
