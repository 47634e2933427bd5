import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { VERSION } from "./home.ts";
import { program, testdata } from "./testdata/program.ts";

const READ_ONLY = { permissions: ["--allow-read", "--allow-env"] };
const SMALL = testdata("small_suite.ts");

Deno.test("main --help lists the commands, the hidden one left out", async () => {
  const { code, stdout, stderr } = await program(["--help"], READ_ONLY);
  deepStrictEqual([code, stderr], [0, ""]);
  strictEqual(
    stdout,
    `Benchmarks matrix kernels over M×N×K sweeps.
Usage: mnkbench COMMAND ...

  bench                       Sweep suites: check, time, keep and compare.
  tune                        Find each kernel's best config, and remember it.
  timings                     Show, merge, edit or forget what tuning remembers.
  check                       Check kernels only, at odd points and the suite's own.
  list                        List suites, kernels and cases.
  build                       Compile kernels, on a machine without their device.
  doctor                      Say what works here and what would mend the rest.
  pack                        Make an archive that runs on a box without a network.
  diff                        Compare two sets of rows: slower, broken, missing, new.
  gate                        Calibrate what can be detected; confirm what was.
  table                       Show recorded rows as tables, with wins and losses.
  import                      Turn published CSVs into rows of this schema.
  baseline                    Record new results, after showing what they replace.
  report                      Make one HTML page of recorded rows, for anybody.
  plot                        Draw recorded rows, as PNG and SVG.
  amdahl                      Say what faster kernels make of the whole.
  completions                 Generate shell completion script or provide completions.
  --help                      Show help information.
  --version                   Show version information.

`,
  );
});

Deno.test("main --version is the version of deno.json", async () => {
  strictEqual((await program(["--version"], READ_ONLY)).stdout, `${VERSION}\n`);
});

Deno.test("main bench --help names every option with its default", async () => {
  const { code, stdout } = await program(["bench", "--help"], READ_ONLY);
  strictEqual(code, 0);
  for (
    const option of [
      ...["suite", "kernel", "backend", "device", "m", "n", "k", "seed"],
      ...["fill", "warmup", "rep", "timer", "cache", "flush", "runs", "once"],
      ...["level", "timing-cache", "no-timing-cache", "error-on-cache-miss"],
      ...[
        "workspace",
        "timeout",
        "out",
        "resume",
        "fresh",
        "dry-run",
        "quick",
        "json",
      ],
    ]
  ) {
    match(stdout, new RegExp(`^  --${option} `, "m"));
  }
  match(stdout, /--warmup MS .* \[10\]/);
  match(stdout, /--rep MS .* \[50\]/);
  match(stdout, /^ {2}--cache cold\|warm /m);
  match(stdout, /^ {2}--flush zero\|read /m);
  match(stdout, /^ {2}--fill normal\|/m);
  match(stdout, /^ {2}--timer do_bench\|graph\|batch:N/m);
});

/** Arguments, the exit code, and what the only line on standard error must have. */
const REFUSED: readonly (readonly [string, number, RegExp])[] = [
  ["bnech", 2, /bnech.* Did you mean `bench`\?/],
  ["bench --siute x", 2, /--siute.* Did you mean .*`--suite`/],
  ["bench --suite epilogue-bf61", 2, /mean epilogue-bf16/],
  ["bench --kernel niave", 2, /kernel is named niave: did you mean naive\?/],
  [
    "bench --suite router",
    2,
    /suite is named router: did you mean router-bf16/,
  ],
  ["bench --kernel torch-eager", 2, /Cannot take torch-eager .*--peers torch/],
  ["bench --backend cdua", 2, /backend is named cdua: did you mean cuda/],
  ["list --suite nope", 2, /there are epilogue-bf16, matmul-bf16/],
  ["bench --m abc", 2, /--m.*abc is not a size/],
  ["bench --k 0", 2, /--k.*0 is not a size/],
  ["bench --m 64:16", 2, /64:16 is an empty range/],
  ["bench --rep -1", 2, /--rep/],
  ["bench --rep x", 2, /x is not a number of at least 0/],
  ["bench --runs 0", 2, /0 is not a whole number of at least 1/],
  ["bench --timer fast", 2, /fast is not a timer: give do_bench, graph/],
  ["bench --timer batch:0", 2, /batch:0 is not a timer/],
  ["bench --fill zeros", 2, /zeros/],
  ["bench --resume --fresh", 2, /Cannot both resume a run and start afresh/],
  ["bench --suite=", 2, /--suite.*a name is empty/],
  ["bench --suite ,", 2, /--suite.*a name is empty/],
  ["bench --kernel=", 2, /--kernel.*a name is empty/],
  ["list --kernel naive,", 2, /--kernel.*a name is empty/],
  ["bench --backend=", 2, /--backend.*a name is empty/],
  ["bench --out=", 2, /--out.*the path is empty/],
  ["bench --kernel-cache=", 2, /--kernel-cache.*the path is empty/],
  ["report a.csv --out=", 2, /--out.*the path is empty/],
  ["bench --m 1:10000 --n 1:10000", 2, /make more than 200000 cases: give/],
  ["list --m 1:10000 --n 1:10000", 2, /make more than 200000 cases: give/],
  ["pack --out /nonexistent/x.tar.xz", 2, /^error: Cannot write .*No such f/],
  ["build", 2, /give --arch/],
  ["build --arch sm_1", 2, /No architecture is named sm_1/],
  ["list --suite ./nowhere.ts", 2, /Cannot load .*nowhere\.ts: No such file/],
  [
    `list --suite ${testdata("no_suite.ts")}`,
    2,
    /its default export is not a suite/,
  ],
  [
    `list --suite ${testdata("broken_suite.ts")}`,
    2,
    /Cannot load .*: This file is broken$/,
  ],
  [
    `list --suite ${SMALL},./cli/testdata/small_suite.ts`,
    2,
    /Two of the suites are named small/,
  ],
];

for (const [line, wanted, why] of REFUSED) {
  const shown = line.replaceAll(testdata("./"), "");
  Deno.test(`main refuses ${shown} with one line`, async () => {
    const { code, stdout, stderr } = await program(line.split(" "));
    const [error, ...hints] = stderr.trim().split("\n");
    strictEqual(code, wanted, stderr);
    strictEqual(stdout, "");
    match(error!, /^error: /);
    match(error!, why);
    deepStrictEqual(
      hints.filter((hint) => hint !== "Type mnkbench --help for what there is"),
      [],
    );
  });
}

Deno.test("main list shows a user's suite, whose file imports only mnkbench", async () => {
  const { code, stdout } = await program(["list", "--suite", SMALL], READ_ONLY);
  strictEqual(code, 0);
  strictEqual(
    stdout,
    `small: a small product (4 shapes)
  naive  cpu  three loops in TypeScript, to be read
  zeros  cpu  wrong everywhere
  picky  cpu  runs nowhere
`,
  );
});

Deno.test("main list --cases takes sizes, N following M unless it is given", async () => {
  const cases = async (...sizes: string[]) => {
    const args = ["list", "--cases", "--suite", SMALL, "--kernel", "naive"];
    return (await program([...args, ...sizes], READ_ONLY)).stdout;
  };
  strictEqual(
    await cases("--m", "24", "--k", "8:16:8"),
    `small  naive  cpu  m=24 n=24 k=8 epilogue=none
small  naive  cpu  m=24 n=24 k=16 epilogue=none
`,
  );
  strictEqual(
    await cases("--m", "24", "--n", "5", "--k", "7"),
    "small  naive  cpu  m=24 n=5 k=7 epilogue=none\n",
  );
});

Deno.test("main list --json is JSON", async () => {
  const { stdout } = await program(["list", "--json"], READ_ONLY);
  const suites: { name: string; shapes: number }[] = JSON.parse(stdout);
  deepStrictEqual(
    suites.map(({ name, shapes }) => `${name} ${shapes}`),
    [
      "epilogue-bf16 28",
      "matmul-bf16 28",
      "matmul-fp16 28",
      "matmul-fp32 28",
      "router-bf16 10",
      "autotune-fp16 33",
      "decode-bf16-k7168 32",
      "decode-bf16-models 48",
      "mlx-qmm 256",
      "mlx-qmm-formats 84",
      "grouped-nvfp4 4",
    ],
  );
});

Deno.test("main completions offers options and names", async () => {
  const offered = async (...words: string[]) => {
    const { stdout } = await program(["completions", "bash", ...words]);
    return stdout.split("\n");
  };
  ok((await offered("be")).includes("bench"));
  ok((await offered("bench", "--su")).includes("--suite"));
  ok((await offered("bench", "--suite", "epi")).includes("epilogue-bf16"));
});
