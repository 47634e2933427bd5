import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { VERSION } from "../session/home.ts";
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

Deno.test("main completions parts those of zsh by NULs, as its script reads them", async () => {
  const { stdout } = await program([
    "completions",
    "zsh",
    "list",
    "--suite",
    "",
  ]);
  match(stdout, /^epilogue-bf16\0\0\n/);
});
