import { assertEquals, assertMatch } from "@std/assert";
import { program, type Ran, testdata } from "./testdata/program.ts";

const SMALL = testdata("small_suite.ts");

/** Suite files by name, each with one mistake. */
const FILES: Readonly<Record<string, string>> = {
  "kernel.cpp": "void kernel(const float *A, const float *B, float *C) {}",
  "misspelt.ts": suite(`fixed: { tpye: "f32" }`),
  // As unchecked as the types of a user's file: what JSON gives passes for anything.
  "nameless.ts": suite(`kernels: [
    defineLaunch(matmul, JSON.parse('{ "nam": "mine", "backend": "cpu", "entry": "mine" }')),
  ]`),
  "stray.ts": suite(`kernels: [defineKernel(matmul, {
    name: "elsewhere",
    backend: "tpu",
    idea: "runs nowhere",
    prepare: () => ({ steps: [] }),
  })]`),
  // It would need a shape for a GPU.
  "cpuu.ts": suite(`kernels: [defineLaunch(matmul, {
    name: "mine",
    backend: "cpuu",
    source: new URL("./mine.c", import.meta.url),
    entry: "mine",
  })]`),
  "throws.ts": suite(
    `op: { ...matmul, tolerance() { throw new TypeError("no tolerance"); } }`,
  ),
  "taken.ts": suite(`name: "matmul-bf16"`),
  "none.ts": `export default { name: "not a suite" };`,
  "broken.ts": `throw new Error("This file is broken\\nin two lines");`,
};

/** The text of a user's suite with `fields` in the place of its own. */
function suite(fields: string): string {
  return `import { defineKernel, defineLaunch, defineSuite, matmul } from "mnkbench";
const own = { ${fields} };
export default defineSuite({
  name: "own",
  title: "a suite with a mistake",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  kernels: [],
  baselines: [],
  ...own,
});
`;
}

const REFUSED: readonly (readonly [string, number, RegExp])[] = [
  ["bnech", 2, /bnech.* Did you mean `bench`\?/],
  ["bench --quick -- -x.c --m 16", 2, /^error: Cannot take --m after --, /],
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
  [
    "bench ./mine.cubin",
    2,
    /Cannot infer a launch from \.\/mine\.cubin, which/,
  ],
  [
    "bench ./none.py:fn",
    2,
    /source file \.\/none\.py: there is no such file$/m,
  ],
  ["bench --peers jax", 2, /jax is no set of peers: give torch, or a Python/],
  ["bench --m abc", 2, /--m.*abc is not a size/],
  ["bench --k 0", 2, /--k.*0 is not a size/],
  ["bench --m 64:16", 2, /64:16 is an empty range/],
  ["bench --rep -1", 2, /--rep/],
  ["bench --rep x", 2, /x is not a number from 0 to 3600000/],
  ["bench --runs 0", 2, /0 is not a whole number from 1 to 10000/],
  ["bench --timer fast", 2, /fast is not a timer: give do_bench, graph/],
  ["bench --timer batch:0", 2, /batch:0 is not a timer/],
  ["bench --timer chain:0", 2, /chain:0 is not a timer/],
  ["bench --timer batch:10000", 2, /batch:10000 is not a timer/],
  [
    "bench --timer chain:1",
    2,
    /chain:1 is not a timer: give .*at most 9999 calls/,
  ],
  ["bench --timer chain:x", 2, /chain:x is not a timer/],
  ["bench --timer chain:8:x", 2, /chain:8:x is not a timer/],
  ["bench --fill zeros", 2, /zeros/],
  [
    "bench --suite matmul-fp32 --kernel qmv",
    2,
    /is named qmv: it is in mlx-qmm, mlx-qmm-formats; choose one/,
  ],
  ["list --where mod=1", 2, /No axis is named mod: did you mean mode\?/],
  [
    "list --suite matmul-fp32 --where layout=tt",
    2,
    /layout is tt: give one of nn, nt$/,
  ],
  ["check --suite matmul-fp32 --where m=abc", 2, /m is abc: .* --where m=64$/],
  ["list --suite matmul-fp32 --where layout=nt,tt", 2, /layout is tt: give/],
  ["list --where m=abc", 2, /m is abc: give whole numbers, as in --where m=80/],
  ["list --suite matmul-fp32 --where m=7", 3, /Nothing to run: no case has/],
  ["list --suite decode-fp8 --axis scale=", 2, /A value of scale is empty: wr/],
  ["list --axis =1", 2, /=1 names no axis: write NAME=VALUES/],
  ["list --suite matmul-fp32 --axis bits=4", 2, /has no axis bits: its/],
  [
    "bench --suite mlx-qmm --where group=row",
    2,
    /group is row: give a whole number of at least 1 or channel, as in --where/,
  ],
  ["bench --suite mlx-qmm --where bits=7", 3, /no case is selected by/],
  [
    "check --device emulator",
    2,
    /named emulator: give emulator:sm_90a, emulator:sm_100a, emulator:gfx942, emulator:gfx950, emulator:applegpu/,
  ],
  ["check --device emulator:", 2, /No emulated device is named emulator:/],
  ["check --device emulator:sm_12", 2, /named emulator:sm_12: give emulator:/],
  ["check --device x", 2, /x is not a device: give its number, from 0, or one/],
  ["tune --device x", 2, /x is not a device: give its number, from 0$/m],
  [
    "check --device emulator:sm_90a --backend hip",
    2,
    /emulator:sm_90a is a device of cuda, and kernels of hip are asked for: take another --device, leave out --backend, or take kernels of cuda$/m,
  ],
  [
    "check --device emulator:gfx942 --kernel wgmma-k",
    3,
    /No selected kernel runs on emulator:gfx942: it is of hip, and they are for cuda/,
  ],
  [
    "bench --device emulator:sm_90a",
    2,
    /Cannot bench: times on emulator:sm_90a would mean nothing: .*check --device/,
  ],
  ["tune --device emulator:sm_90a", 2, /times on .* would mean nothing: check/],
  ["compare --device emulator:gfx942 a b", 2, /times on .* would mean nothing/],
  ["bench --resume --fresh", 2, /Cannot both resume a run and start afresh/],
  [
    "bench --cache warm --flush read",
    2,
    /^error: Cannot flush .*leave out --f/,
  ],
  [
    "tune --cache warm --flush zero",
    2,
    /that stays warm: leave out --flush or/,
  ],
  ["bench --dry-run --json", 2, /Cannot print rows of a dry run: leave out/],
  [
    "bench --python /usr/bin/python3",
    2,
    /--python is of the peers and of Python kernels/,
  ],
  [
    "bench --backend cpu --peers torch",
    2,
    /Cannot measure peers on cpu: they run on cuda only; leave out --peers or --backend/,
  ],
  [
    "bench --once --json --runs 5 --out zz",
    2,
    /--once only checks, and writes no times, rows or progress: leave out --json, --runs, --out$/m,
  ],
  [
    "bench --once --warmup 1 --rep 5 --precision 2 --search 1 --progress zz",
    2,
    /: leave out --warmup, --rep, --precision, --search, --progress$/m,
  ],
  ["bench --suite=", 2, /--suite.*a name is empty/],
  ["bench --suite ,", 2, /--suite.*a name is empty/],
  ["bench --kernel=", 2, /--kernel.*a name is empty/],
  ["list --kernel naive,", 2, /--kernel.*a name is empty/],
  ["bench --backend=", 2, /--backend.*a name is empty/],
  ["bench --out=", 2, /--out.*the path is empty/],
  ["bench --kernel-cache=", 2, /--kernel-cache.*the path is empty/],
  ["report a.csv --out=", 2, /--out.*the path is empty/],
  ["bench --m 1:10000 --n 1:10000", 2, /axes make \d+ points, and 200000 are/],
  ["list --m 1:10000 --n 1:10000", 2, /axes make \d+ points, and 200000 are/],
  ["list --m 1:200 --n 1:200 --k 8", 2, /make more than 200000 cases: give/],
  [
    "build --pack --out /nonexistent/x.tar.xz",
    2,
    /^error: Cannot write .*No such f/,
  ],
  [
    "tune list --kernel-cache deno.json",
    2,
    /^error: Cannot read .*deno\.json\/timings\.json: Not a directory/,
  ],
  [
    "import results --into deno.json",
    2,
    /^error: Cannot write deno\.json\/\S+: (Not a directory|File exists)/,
  ],
  ["report --splice bench", 2, /^error: Cannot read .*bench: it is a folder;/],
  ["list --suite ./bench", 2, /Cannot load .*: it is not a regular file; name/],
  [
    "report results/nvidia-h200/decode-glm.csv --out bench",
    2,
    /Cannot write bench: it is a fol/,
  ],
  ["build", 2, /give --arch/],
  ["build --arch sm_90a --out x", 2, /--out is for --pack: add it/],
  ["build --pack --suite epilogue-bf16", 2, /built for --arch: give it/],
  ["tune lst", 2, /`lst`.* Did you mean `list`\?/],
  ["tune nothing", 2, /`nothing`; a suite file ends in \.ts or \.js, and a/],
  [
    "tune mine.c",
    2,
    /^error: Cannot tune mine\.c: a kernel file declares no tunables, so .*; name a suite file that does/,
  ],
  ["tune mine.py:fn --level 2", 2, /Cannot tune mine\.py:fn: a kernel file/],
  [
    "tune ./a.ts --suite b",
    2,
    /Cannot take both \.\/a\.ts and --suite b: leave/,
  ],
  [
    "build mine.py:fn --arch sm_90a",
    2,
    /^error: Cannot compile mine\.py:fn ahead: .*; name a \.c, \.cu, /,
  ],
  [
    "export mine.py --arch sm_90a --out x",
    2,
    /^error: Cannot compile mine\.py ahead: /,
  ],
  [
    "build mine --arch sm_90a",
    2,
    /Cannot use mine: it is no \.c, \.cu, .*file/,
  ],
  ["tune --siute x", 2, /--siute.* Did you mean .*`--suite`/],
  ["tune list --forget x", 2, /--forget/],
  ["tune merge", 2, /too few|at least 1/],
  ["table results --weights nowhere.json", 2, /^error: Cannot read nowhere/],
  ["import", 2, /^error: Nothing to import: name a folder of results/],
  ["import cli", 3, /^error: Cannot read cli: no CSV of results is in it/],
  [
    "import results/nvidia-h200 --run mine",
    2,
    /^error: Cannot import .*\.csv with --run: it has rows of our own; leave it out$/,
  ],
  [
    "import report/import/testdata/all_us.csv --into results",
    2,
    /^error: Cannot import .*all_us\.csv with --into: it has no rows of our own;/,
  ],
  [
    "import results report/import/testdata/all_us.csv",
    2,
    /^error: Cannot import results.*\.csv and .*all_us\.csv at once: the first has/,
  ],
  [
    "import results results/nvidia-h200",
    2,
    /Cannot import 2 folders of results/,
  ],
  ["compare new", 2, /^error: Cannot compare new alone: .*, compare BASE NEW,/],
  ["build --arch sm_1", 2, /No architecture is named sm_1/],
  [
    `list --cases --suite ./misspelt.ts`,
    2,
    /Suite own cannot be used: matmul has no axis tpye: its axes are m, n, k, type, /,
  ],
  [
    `list --cases --suite ./nameless.ts`,
    2,
    /nameless\.ts:\d+:\d+: Cannot define the kernel: it has no name, such as `name: "mine"`$/m,
  ],
  [
    `list --cases --suite ./throws.ts`,
    2,
    /^error: Cannot use the suite file .*throws\.ts:2:\d+: no tolerance$/,
  ],
  [
    `list --suite ./stray.ts`,
    2,
    /Cannot use .*: its kernel elsewhere is for the backend tpu; there are cuda, hip, metal, cpu$/,
  ],
  [
    "bench --suite ./cpuu.ts",
    2,
    /its kernel mine is for the backend cpuu; there are cuda, hip, metal, cpu$/,
  ],
  [
    `bench --suite ${SMALL} --backend cpu --progress ./nowhere/at.json`,
    2,
    /Cannot write \.\/nowhere\/at\.json: /,
  ],
  [
    "list --suite ./nowhere.ts",
    2,
    /Cannot load .*nowhere\.ts: there is no file \/.*\/nowhere\.ts$/,
  ],
  [
    "bench a.c b.c",
    2,
    /^error: Cannot take b\.c as well: bench takes one file; .* with compare a\.cu b\.cu$/m,
  ],
  [
    "bench ./kernel.cpp",
    2,
    /Cannot load .*kernel\.cpp: it is neither TypeScript nor JavaScript; a kernel file is \.c,/,
  ],
  [
    `list --suite ./none.ts`,
    2,
    /its default export is not a suite/,
  ],
  [
    `list --suite ./taken.ts`,
    2,
    /its name is matmul-bf16, that of a built-in suite, and their rows would mix/,
  ],
  [
    `list --suite ./broken.ts`,
    2,
    /Cannot load .*: This file is broken$/,
  ],
  [
    `list --suite ${SMALL},./cli/testdata/small_suite.ts`,
    2,
    /Two of the suites are named small/,
  ],
];

/** Runs the program, beside the suite file of {@linkcode FILES} that `args` name. */
async function refused(args: readonly string[]): Promise<Ran> {
  const name = args.at(-1)!.replace("./", "");
  if (!Object.hasOwn(FILES, name)) return await program(args);
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/${name}`;
    await Deno.writeTextFile(file, FILES[name]!);
    return await program([...args.slice(0, -1), file]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (const [line, wanted, why] of REFUSED) {
  const shown = line.replaceAll(testdata("./"), "");
  Deno.test(`main refuses ${shown} with one line`, async () => {
    const { code, stdout, stderr } = await refused(line.split(" "));
    const [error, ...hints] = stderr.trim().split("\n");
    assertEquals(code, wanted, stderr);
    assertEquals(stdout, "");
    assertMatch(error!, /^error: /);
    assertMatch(error!, why);
    assertEquals(
      hints.filter((hint) => !hint.startsWith("Options and examples: ")),
      [],
    );
  });
}

for (
  const [line, help] of [
    ["bench --nonsense", "bench --help"],
    ["history add --nonsense", "history --help"],
    ["nonsense", "--help"],
  ] as const
) {
  Deno.test(`main names the help of ${line}`, async () => {
    const { stderr } = await program(line.split(" "), {
      env: { INIT_CWD: "/", npm_command: "" },
    });
    assertMatch(
      stderr,
      new RegExp(
        `^Options and examples: deno task --config \\S+/deno\\.json ${help}$`,
        "m",
      ),
    );
  });
}
