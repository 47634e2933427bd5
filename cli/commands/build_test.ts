import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { within } from "../../bench/testdata/temporary.ts";
import { sourceVersion } from "../../session/commit.ts";
import { LATEST } from "../../session/home.ts";
import { readRows } from "../../session/read_rows.ts";
import { gather, MOST_BYTES } from "./build/archive.ts";
import { cpu } from "../../backends/cpu/cpu.ts";
import { cuda } from "../../backends/cuda/cuda.ts";
import { archInfo, recordedSuites, unitsOf } from "./build/kernels.ts";
import { splitkKernels } from "../../kernels/matmul/hip/splitk/splitk.ts";
import { matmul } from "../../kernels/matmul/op.ts";
import faults from "../testdata/fault_suite.ts";
import { builtInSuites } from "../../suites/mod.ts";
import { lacking, program, start, testdata } from "../testdata/program.ts";

Deno.test("gather() makes a folder that runs with no network and nothing cached", async () => {
  const cwd = await Deno.makeTempDir();
  try {
    const folder = join(cwd, "packed");
    const kernelCache = join(cwd, "kernels");
    for (
      const [name, arch] of [["a.1", "sm_90a"], ["b.2", "sm_90a"], ["c.3", ""]]
    ) {
      await Deno.mkdir(join(kernelCache, name!), { recursive: true });
      await Deno.writeTextFile(
        join(kernelCache, name!, "manifest.json"),
        JSON.stringify({
          source: "a.cu",
          defines: {},
          arch,
          flags: [],
          compiler: "nvcc",
          binaryHash: "0",
        }),
      );
    }
    const entries = ["a.1", "c.3"];
    await gather(folder, { arch: ["sm_90a"], kernelCache, entries });
    // Those that are named, of the architecture.
    assertEquals(
      [...Deno.readDirSync(join(folder, ".cache"))].map(({ name }) => name),
      ["a.1"],
    );
    const packages = Deno.readDirSync(join(folder, "node_modules/.deno"));
    assertEquals(
      [...packages].map(({ name }) => name)
        .filter((name) => /esbuild|playwright|canvas/.test(name)),
      [],
    );
    // Searches begin with the recorded configs.
    assertEquals(
      [...Deno.readDirSync(join(folder, "results/nvidia-h200"))]
        .filter(({ name }) => !name.endsWith(".csv")),
      [],
    );
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await new Deno.Command(
        join(folder, "mnkbench"),
        {
          args,
          cwd,
          clearEnv: true,
          env: {
            PATH: "/usr/bin:/bin",
            HOME: join(cwd, "home"),
            // Nothing listens there: whoever asks a registry fails.
            NPM_CONFIG_REGISTRY: "http://127.0.0.1:9",
          },
        },
      ).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      return { code, stdout: text(stdout), stderr: text(stderr) };
    };
    const list = await run("list");
    assertEquals(list.code, 0, list.stderr);
    assertMatch(list.stdout, /^epilogue-bf16: .*\(28 shapes\)$/m);
    const bench = await run(
      ...["bench", "--backend", "cpu", "--kernel", "naive", "--rep", "1"],
      ...["--suite", "matmul-fp32", "--m", "2", "--k", "8"],
    );
    assertEquals(bench.code, 0, bench.stderr);
    assertMatch(bench.stdout, /^2×2×8 /m);
    // It has no git, and was packed of these sources.
    const { commit } = await sourceVersion();
    const [one] = await readRows([join(cwd, LATEST)]);
    assertEquals(one!.row.commit, commit);
    const plot = await run("plot");
    assertEquals(plot.code, 2, plot.stderr);
    assertMatch(
      plot.stderr,
      /^error: Cannot load what pictures are drawn with: .*; copy the CSVs to a checkout/,
    );
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

Deno.test("build --pack leaves nothing where Ctrl-C stopped it", () =>
  within(async (cwd) => {
    const TMPDIR = join(cwd, "temporary");
    await Deno.mkdir(TMPDIR);
    const args = ["build", "--pack", "--out", "packed.tar.xz"];
    const child = start(args, cwd, { env: { TMPDIR } });
    let said = "";
    for await (
      const text of child.stderr.pipeThrough(new TextDecoderStream())
    ) {
      said += text;
      if (said.includes("Compressing")) child.kill("SIGINT");
    }
    await child.stdout.cancel();
    assertEquals((await child.status).code, 130, said);
    assertMatch(said, /^error: Stopped before the archive was made$/m);
    assertEquals([...Deno.readDirSync(TMPDIR)], []);
    assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name), [
      "temporary",
    ]);
  }));

/** What a channel takes of the tree and the archive at once. */
const CHANNEL_BYTES = 62 * 2 ** 20;
Deno.test("an archive and the tree together fit into a channel of 62 MiB", async () => {
  const cwd = new URL("../../", import.meta.url);
  const { success, stdout } = await new Deno.Command("git", {
    args: ["ls-files", "-z"],
    cwd,
    stderr: "null",
  }).output();
  assert(success, "this is no checkout");
  const files = new TextDecoder().decode(stdout).split("\0").filter(Boolean);
  const sizes = files.map((file) => {
    try {
      return Deno.lstatSync(new URL(file, cwd)).size;
    } catch (error) {
      // It is deleted and not committed yet.
      if (error instanceof Deno.errors.NotFound) return 0;
      throw error;
    }
  });
  const tree = sizes.reduce((sum, size) => sum + size, 0);
  assert(
    tree + MOST_BYTES <= CHANNEL_BYTES,
    `the tree has ${(tree / 2 ** 20).toFixed(1)} MiB`,
  );
});

const { arch } = Deno.build;

Deno.test("unitsOf() names each unit of a sweep once, the instruments first", () => {
  const all = [...faults.cases("all")].filter(({ kernel, backend }) =>
    kernel === "uncompilable" && backend === "cpu"
  );
  const cases = [...all, ...all];
  const units = unitsOf(cases, { backend: cpu, info: archInfo(arch).info });
  assertEquals(
    units.map(({ source }) => source.pathname.split("/").at(-1)),
    ["instruments.c", "faults.c", "plain.c"],
  );
});

Deno.test("unitsOf() names few units of recorded kernels", async () => {
  const { info } = archInfo("sm_90a");
  const [suite] = await builtInSuites(["epilogue-bf16"]);
  const cases = [...suite!.cases("all")].filter(({ backend }) =>
    backend === "cuda"
  );
  const { length } = unitsOf(cases, { backend: cuda(), info });
  // By the model alone there are 870 at level 2, 2,420 at level 3.
  assert(length > 100 && length < 300, `${length}`);
});

Deno.test("recordedSuites() leaves out suites without a row, and says so", () => {
  const notes: string[] = [];
  const names = ["epilogue-bf16", "of-tomorrow"];
  const note = (line: string) => notes.push(line);
  assertEquals(recordedSuites("sm_90a", note, names), ["epilogue-bf16"]);
  assertMatch(notes.join(), /without of-tomorrow: --suite names others$/);
  // Nothing is recorded: all are packed.
  assertEquals(recordedSuites("gfx942", (line) => notes.push(line)), []);
  assertEquals(notes.length, 1);
});

Deno.test("archInfo() gives gfx950 configs that gfx942 has no room for", () => {
  const most = (arch: string) => {
    const { info } = archInfo(arch);
    const point = matmul.point({ m: 16, n: 256, k: 7168, layout: "nt" });
    return [...splitkKernels[0]!.candidates(point, info)]
      .filter(({ illegal }) => illegal === undefined).length;
  };
  assert(most("gfx950") > 2 * most("gfx942"));
});

Deno.test("archInfo() knows which architectures copy by tensor maps", () => {
  const archs = ["sm_80", "sm_89", "sm_90a", "sm_103a", "sm_120", "gfx942"];
  assertEquals(
    archs.map((arch) => archInfo(arch).info.tensorMaps),
    [false, false, true, true, true, false],
  );
});

Deno.test({
  name:
    `build compiles into the folder, says what fails, and ends with 1${lacking()}`,
  ignore: lacking() !== "",
  async fn() {
    const cwd = await Deno.makeTempDir();
    try {
      const args = ["build", "--arch", arch, "--kernel-cache", "kernels"];
      const suite = [
        "--suite",
        testdata("fault_suite.ts"),
        "--kernel",
        "uncompilable",
      ];
      const { code, stdout, stderr } = await program([...args, ...suite], {
        cwd,
      });
      assertEquals(code, 1, stderr);
      assertEquals(stdout, `${arch}: 2 built, 1 failed\n`);
      assertMatch(stderr, /^FAIL faults\.c UNCOMPILABLE=1: .*error/m);
      const built = [...Deno.readDirSync(`${cwd}/kernels`)]
        .filter(({ isDirectory }) => isDirectory);
      assertEquals(built.length, 2);
    } finally {
      await Deno.remove(cwd, { recursive: true });
    }
  },
});

const ROWS = new URL("../../examples/c-kernel/rows.c", import.meta.url);

Deno.test("build refuses a kernel file for the architecture of another backend", async () => {
  const args = ["build", ROWS.pathname, "--arch", "sm_90a"];
  const { code, stderr } = await program(args);
  assertEquals(code, 2, stderr);
  assertMatch(
    stderr,
    /^error: Cannot build .*rows\.c for sm_90a: the kernel is for cpu, and sm_90a is of cuda; give --arch \w+$/m,
  );
});

Deno.test({
  name: `build compiles the kernel of a file alone${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (cwd) => {
      const args = ["build", ROWS.pathname, "--arch", arch];
      const cache = ["--kernel-cache", "kernels"];
      const { code, stderr } = await program([...args, ...cache], { cwd });
      assertEquals(code, 0, stderr);
      const sources = [...Deno.readDirSync(`${cwd}/kernels`)]
        .filter(({ isDirectory }) => isDirectory)
        .map(({ name }) => name.split(".")[0]).toSorted();
      // Those of the harness, and no baseline.
      assertEquals(sources, ["instruments", "plain", "rows"]);
    }),
});
