import { assert, assertEquals, assertMatch } from "@std/assert";
import { COMMANDS, LEAST_WIDTH, unexpected } from "./main.ts";
import { runParser } from "@optique/core/facade";
import config from "../deno.json" with { type: "json" };
import { PERMISSIONS, VERSION } from "../session/home.ts";
import { flagsOf, unneededPermissions } from "./permissions.ts";
import { builtInSuites } from "../suites/mod.ts";
import {
  program,
  suiteOfTolerance,
  testdata,
  within,
} from "./testdata/program.ts";
import { join } from "node:path";

const SMALL = testdata("small_suite.ts");

Deno.test("main --help lists the commands", async () => {
  const { code, stdout, stderr } = await program(["--help"]);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(
    stdout,
    `Benchmarks GEMM kernels over M×N×K sweeps.
Usage: mnkbench COMMAND ...

  bench                       Sweep suites: check, time, record and compare kernels.
  check                       Check kernels for correctness, at edge-case shapes and the suites' own.
  tune                        Search each kernel's best config and cache it; list and edit the cache.
  compare                     Measure two kernels or commits in turns, or again what is slower between sets of rows.
  diff                        Compare two sets of rows: slower, broken, missing, new.
  table                       Show recorded rows as tables, with wins and losses.
  plot                        Draw recorded rows, as PNG and SVG.
  report                      Make one HTML page of recorded rows.
  history                     Keep runs in one file; show where times changed, and since when.
  import                      Import rows into a folder: new results with their verdicts, or published CSVs.
  capture                     Record the GEMMs that a program runs, with calls and times.
  list                        List suites, kernels, cases and stale rows.
  build                       Compile kernels for --arch, and pack them for a machine without a network.
  export                      Write kernels as binaries, with a C header and a PyTorch operator to launch them.
  init                        Write a kernel, a suite and a CI workflow into your repository.
  doctor                      Show what works on this machine, and how to fix the rest.
  completions                 Generate shell completion script or provide completions.
  --help                      Show help information.
  --version                   Show version information.

`,
  );
});

Deno.test("main without a command says what to do first", async () => {
  const { code, stdout, stderr } = await program([]);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(stdout.trimEnd().split("\n").length, 5);
  assertMatch(
    stdout,
    /^ {2}mnkbench bench mine\.cu {2}measure a kernel of yours/m,
  );
});

Deno.test("main --version is the version of deno.json", async () => {
  assertEquals(
    (await program(["--version"])).stdout,
    `${VERSION}\n`,
  );
});

Deno.test("main: each command's help has two examples and its exit codes", async () => {
  const parts = ["list", "edit", "forget", "merge"].map((part) =>
    `tune ${part}`
  );
  await Promise.all([...Object.keys(COMMANDS), ...parts].map(async (name) => {
    const { code, stdout } = await program(
      [...name.split(" "), "--help"],
    );
    assertEquals(code, 0, name);
    const [, examples, codes] =
      /\nExamples:\n((?: {2}mnkbench .*\n){2})\nExit codes:\n((?: {2}[0-4] {2}.*\n)+)/
        .exec(stdout) ?? [];
    assert(examples !== undefined && codes !== undefined, stdout);
    const own = new RegExp(`^ {2}mnkbench ${name}( |$)`);
    for (const line of examples.trimEnd().split("\n")) assertMatch(line, own);
    assertMatch(codes, /^ {2}0 {2}.*\n(.*\n)* {2}2 {2}wrong usage/);
  }));
});

Deno.test("main has help for the narrowest terminal", async () => {
  for (const load of Object.values(COMMANDS)) {
    const { command } = await load();
    const words = { suites: [], kernels: [], backends: [] };
    const shown: string[] = [];
    // One that leaves descriptions no room is refused at some widths and not at lesser ones.
    for (let width = LEAST_WIDTH; width < LEAST_WIDTH + 8; width++) {
      runParser(command.parser(words), "mnkbench", [command.name, "--help"], {
        maxWidth: width,
        showDefault: true,
        help: { option: true, onShow: () => undefined },
        stdout: (text) => shown.push(text),
      });
    }
    assertMatch(shown.join(""), /\nUsage: mnkbench /, command.name);
  }
});

Deno.test("main: the help of a command has the usage of its sub-commands", async () => {
  const { stdout } = await program(["tune", "--help"]);
  assertMatch(
    stdout,
    /^Usage: mnkbench tune \[--suite NAME\.\.\.\] .*\[FILE\]$/m,
  );
  assertMatch(stdout, /^ {2}mnkbench tune list \[--only WORDS\] \[--json\] /m);
  assertMatch(stdout, /^ {2}mnkbench tune edit .* ID:CONFIG$/m);
  assertMatch(stdout, /^ {2}mnkbench tune forget .* WORDS$/m);
});

Deno.test("main bench --help names every option with its default", async () => {
  const { code, stdout } = await program(["bench", "--help"]);
  assertEquals(code, 0);
  for (
    const option of [
      ...["suite", "kernel", "backend", "device", "m", "n", "k", "seed"],
      ...[
        "fill",
        "warmup",
        "rep",
        "precision",
        "timer",
        "cache",
        "flush",
        "runs",
        "once",
      ],
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
    assertMatch(stdout, new RegExp(`^  --${option} `, "m"));
  }
  assertMatch(stdout, /--warmup MS .* \[10\]/);
  assertMatch(stdout, /--rep MS .*\(default: 50;/);
  assertMatch(stdout, /^ {2}--cache cold\|warm /m);
  assertMatch(stdout, /^ {2}--flush zero\|read /m);
  assertMatch(stdout, /^ {2}--fill normal\|/m);
  assertMatch(stdout, /^ {2}--timer do_bench\|graph\|batch:N/m);
});

/** Arguments, the exit code, and what the only line on standard error must have. */
Deno.test("main list shows a user's suite, whose file imports only mnkbench", async () => {
  const { code, stdout } = await program(["list", "--suite", SMALL]);
  assertEquals(code, 0);
  assertEquals(
    stdout,
    `small: a small product (4 shapes)
  naive  cpu  three loops in TypeScript, to be read
  zeros  cpu  wrong everywhere
  picky  cpu  runs nowhere
`,
  );
});

Deno.test("main list names the emulated devices of the listed kernels alone", async () => {
  const said = async (...args: string[]) =>
    (await program(["list", ...args])).stderr;
  assertEquals(await said("--suite", SMALL), "");
  assertEquals(
    await said("--suite", "decode-fp8"),
    "Without a GPU: check --device emulator:sm_90a, emulator:sm_100a\n",
  );
  assertEquals(await said("--suite", "matmul-fp32", "--kernel", "naive"), "");
});

Deno.test("main check of given sizes says that it leaves out edge-case shapes", async () => {
  const args = ["check", "--backend", "cpu", "--suite", SMALL];
  const { code, stdout, stderr } = await program([
    ...[...args, "--kernel", "naive", "--m", "2", "--k", "8"],
  ]);
  assertEquals(code, 0, stderr);
  assertEquals(stdout, "1 case: 1 right, 0 failed, 0 unsupported\n");
  assertMatch(
    stderr,
    /^Only the given sizes; without --axis, --m, --n and --k edge-case shapes are checked too$/m,
  );
});

Deno.test("main list --cases takes sizes, N following M unless it is given", async () => {
  const cases = async (...sizes: string[]) => {
    const args = ["list", "--cases", "--suite", SMALL, "--kernel", "naive"];
    return (await program([...args, ...sizes])).stdout;
  };
  assertEquals(
    await cases("--m", "24", "--k", "8:16:8"),
    `small  naive  cpu  m=24 n=24 k=8 type=f32 epilogue=none layout=nn
small  naive  cpu  m=24 n=24 k=16 type=f32 epilogue=none layout=nn
`,
  );
  assertEquals(
    await cases("--m", "24", "--n", "5", "--k", "7"),
    "small  naive  cpu  m=24 n=5 k=7 type=f32 epilogue=none layout=nn\n",
  );
});

Deno.test("main list --json is JSON", async () => {
  const { stdout } = await program(["list", "--json"]);
  const listed: { name: string; shapes: number }[] = JSON.parse(stdout);
  assertEquals(
    listed.map(({ name, shapes }) => [name, shapes]),
    (await builtInSuites()).map((suite) => {
      const cases = [...suite.cases("all")];
      return [suite.name, cases.length / suite.kernels.length];
    }),
  );
});

Deno.test("main list --json is JSON where a function of a suite prints", () =>
  within(async (run, folder) => {
    const text = suiteOfTolerance(`  console.log("from tolerance()");
  return matmul.tolerance(point);`);
    await Deno.writeTextFile(join(folder, "odd.ts"), text);
    const ran = await run("list", "--suite", "./odd.ts", "--json");
    assertEquals(JSON.parse(ran.stdout)[0].name, "odd");
    assertEquals(ran.stderr, "from tolerance()\n");
  }));

Deno.test("main completions offers options and names", async () => {
  const offered = async (...words: string[]) => {
    const { stdout } = await program(["completions", "bash", ...words]);
    return stdout.split("\n");
  };
  assert((await offered("be")).includes("bench"));
  assert((await offered("bench", "--su")).includes("--suite"));
  assert((await offered("bench", "--suite", "epi")).includes("epilogue-bf16"));
});

Deno.test("main completions parts those of zsh by NULs, as its script reads them", async () => {
  const { stdout } = await program([
    "completions",
    "zsh",
    "list",
    "--suite",
    "",
  ]);
  assertMatch(stdout, /^epilogue-bf16\0\0\n/);
});

const TASKS: Readonly<Record<string, { readonly command: string }>> =
  config.tasks;

/** The tasks that are no commands. */
const TOOLS: Readonly<Record<string, string>> = {
  recorded: "deno run --allow-read tools/recorded_suites.ts",
  bundle:
    "deno run --allow-read --allow-write --allow-run --allow-env tools/page_bundle.ts",
  schemas: "deno run --allow-read --allow-write tools/json_schemas.ts",
  "same-code":
    "deno run --allow-read --allow-write --allow-run --allow-env --allow-ffi --allow-sys tools/same_code.ts",
  npm:
    "deno run --allow-read --allow-write --allow-run --allow-env --allow-sys tools/npm_package.ts",
  test: "deno run --allow-read --allow-run --allow-env tools/run_tests.ts",
  "test:all":
    "deno run --allow-read --allow-run --allow-env tools/run_tests.ts --all",
  "test:soak":
    "deno run --allow-read --allow-write --allow-run --allow-env tools/run_tests.ts --soak",
};

Deno.test("deno.json has a task for every command", () => {
  assertEquals(
    Object.keys(TASKS).toSorted(),
    [
      ...Object.keys(COMMANDS),
      ...["bundle", "completions", "npm", "recorded", "same-code", "schemas"],
      ...["test", "test:all", "test:soak"],
    ].toSorted(),
  );
});

for (const [name, { command }] of Object.entries(TASKS)) {
  Deno.test(`deno.json's task ${name} asks for what it needs, and no more`, () => {
    const { [name]: tool } = TOOLS;
    assertEquals(
      command,
      tool ?? `deno run ${flagsOf(name).join(" ")} cli/main.ts ${name}`,
    );
  });
}

Deno.test("no command asks Deno for the network or for everything", () => {
  const all = Object.keys({ ...COMMANDS, completions: 0 });
  const flags = new Set(all.flatMap(flagsOf).map((flag) => flag.split("=")[0]));
  assertEquals(
    [...flags].toSorted(),
    ["env", "ffi", "read", "run", "sys", "write"].map((k) => `--allow-${k}`),
  );
});

Deno.test("unneededPermissions() names what a command line does not need", () => {
  const of = (line: string) => unneededPermissions(line.split(" ")).join();
  assertEquals(of("bench --quick"), "net");
  assertEquals(of("tune --quick"), "net");
  assertEquals(of("tune list"), "net,ffi,run,sys");
  assertEquals(of("doctor"), "net,write");
  assertEquals(of("doctor --devices"), "net");
  assertEquals(of("list"), "net,ffi,write,sys");
  assertEquals(of("plot"), "net,run,sys");
  assertEquals(of("import x"), "net,ffi,run,sys");
  for (const line of ["table", "diff a b", "--help", "nonsense"]) {
    assertEquals(of(line), "net,ffi,run,write,sys");
  }
});

const GIVEN_UP: readonly (readonly [what: string, code: string])[] = [
  ["write", 'Deno.writeTextFileSync("planted", "");'],
  ["run", 'new Deno.Command("ls").outputSync();'],
  ["ffi", 'Deno.dlopen("libc.so.6", {});'],
  ["sys", "Deno.osRelease();"],
];

for (const [what, code] of GIVEN_UP) {
  Deno.test(`main gives up to ${what} where list loads a suite file`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const file = join(folder, "odd.ts");
      // Not in its trial: what loads it then is the program.
      await Deno.writeTextFile(
        file,
        `if (Deno.mainModule.endsWith("/main.ts")) ${code}
export { default } from "${new URL(
          "testdata/small_suite.ts",
          import.meta.url,
        )}";
`,
      );
      const { code: ended, stderr } = await program(["list", "--suite", file], {
        cwd: folder,
        permissions: PERMISSIONS,
      });
      assertEquals(ended, 2, stderr);
      assertMatch(stderr, new RegExp(`: it needs ${what} access to `));
      assertEquals([...Deno.readDirSync(folder)].length, 1);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** What papers and the README say to type of the recorded results. */
const BARE: readonly (readonly [line: string, shows: RegExp])[] = [
  ["table results --wins", /^epilogue-bf16 on NVIDIA H200: /m],
  [
    "table results --suite decode-bf16-k7168 --published --run aiter-gfx950-256cu",
    /^decode-bf16-k7168 on NVIDIA H200$/m,
  ],
  ["table results --published --run decompose-k-v3", /published: NVIDIA H100/],
  ["table results --wins --against torch-compiled", /torch-eager/],
];

for (const [line, shows] of BARE) {
  Deno.test(`${line} works with the repository's own results`, async () => {
    const { code, stdout, stderr } = await program(line.split(" "));
    assertEquals(code, 0, stderr);
    assertMatch(stdout, shows);
  });
}

Deno.test("plot and report work with the repository's own results", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const page = join(folder, "page.html");
    const report = await program(["report", "results", "--out", page]);
    assertEquals(report.code, 0, report.stderr);
    const drawn = await program(
      ["plot", "results", "--suite", "grouped-nvfp4", "--out", folder],
    );
    assertEquals(drawn.code, 0, drawn.stderr);
    assertMatch(drawn.stdout, /nvidia-h200\/grouped-nvfp4: 7 pictures/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("unexpected() says in one line what to report", () => {
  assertMatch(
    unexpected(new TypeError("two\nlines")),
    /^TypeError: two \(.*main_test\.ts:\d+:\d+.*\): a mistake of .*; please report the command and what follows$/,
  );
});
