import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cxxTest } from "../backends/testdata/mocks.ts";
import { temporary } from "../bench/testdata/temporary.ts";
import { program } from "../cli/testdata/program.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Runs `command` in `cwd`. */
async function run(
  [command, ...args]: readonly [string, ...string[]],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args,
    cwd,
    env: { NO_COLOR: "1", ...env },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** Checks `suite.ts` of the CUDA example in `folder` at one ragged shape. */
function checkTiled(folder: string) {
  return program([
    ...["check", "--device", "emulator:sm_90a", "--kernel", "tiled"],
    ...["--suite", join(folder, "suite.ts"), "--m", "19", "--k", "40"],
  ]);
}

cxxTest("examples/cuda-kernel is right on the lane emulator", async () => {
  const { code, stdout, stderr } = await checkTiled(join(HERE, "cuda-kernel"));
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /^1 case: 1 right, 0 failed, 0 unsupported$/m);
});

cxxTest("examples/op is right on the lane emulator", async () => {
  const { code, stdout, stderr } = await program([
    ...["check", "--device", "emulator:sm_90a"],
    ...["--suite", join(HERE, "op/suite.ts"), "--m", "3", "--n", "300"],
  ]);
  assertEquals(code, 0, stderr);
  assertEquals(stdout, "1 case: 1 right, 0 failed, 0 unsupported\n");
});

cxxTest("examples/serving is right on the lane emulator", async () => {
  const { code, stdout, stderr } = await program([
    ...["check", "--device", "emulator:sm_90a", "--m", "1,9"],
    ...["--suite", join(HERE, "serving/suite.ts"), "--n", "150", "--k", "72"],
    ...["--kernel", "repacked,locked,clustered,overlapped,mapped"],
  ]);
  assertEquals(code, 0, stderr);
  assertEquals(stdout, "10 cases: 10 right, 0 failed, 0 unsupported\n");
  const wide = await program([
    ...["check", "--device", "emulator:sm_90a", "--m", "5", "--n", "150"],
    ...["--suite", join(HERE, "serving/suite.ts"), "--k", "72"],
    ...["--kernel", "locked", "--axis", "type_c=f32"],
  ]);
  assertEquals(wide.stdout, "1 case: 1 right, 0 failed, 0 unsupported\n");
});

cxxTest("examples/ptx is not for the lane emulator", async () => {
  const { code, stdout, stderr } = await program([
    ...["check", "--device", "emulator:sm_90a", "--kernel", "given"],
    ...["--suite", join(HERE, "ptx/suite.ts"), "--m", "16"],
  ]);
  assertEquals(code, 3);
  assertMatch(stdout, /^1 case: 0 right, 0 failed, 1 unsupported$/m);
  assertMatch(stderr, /runs sources, and matmul.ptx is compiled: check it on/);
});

cxxTest(
  "examples/cuda-kernel has a race without its second barrier",
  async () => {
    const folder = await Deno.makeTempDir();
    try {
      const suite = join(HERE, "cuda-kernel/suite.ts");
      await Deno.copyFile(suite, join(folder, "suite.ts"));
      const source = await Deno.readTextFile(
        join(HERE, "cuda-kernel/tiled.cu"),
      );
      const at = source.lastIndexOf("__syncthreads();");
      await Deno.writeTextFile(
        join(folder, "tiled.cu"),
        source.slice(0, at) + source.slice(at + "__syncthreads();".length),
      );
      const { code, stderr } = await checkTiled(folder);
      assertEquals(code, 1, stderr);
      assertMatch(
        stderr,
        /: a race in the kernel's shared variables at byte \d+/,
      );
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

cxxTest(
  "examples/ci records, passes, and fails when a kernel is slower",
  async () => {
    const cwd = await Deno.makeTempDir();
    const env = {
      MNKBENCH: join(HERE, ".."),
      SUITE: join(HERE, "c-kernel/suite.ts"),
      DENO: Deno.execPath(),
    };
    const bench = (...args: string[]) =>
      run(["sh", "bench.sh", ...args], { cwd, env });
    try {
      await Deno.copyFile(join(HERE, "ci/bench.sh"), join(cwd, "bench.sh"));
      const recorded = await bench("--record");
      assertEquals(recorded.code, 0, recorded.stderr);
      assertMatch(
        recorded.stdout,
        /^Recorded in \S+\/recorded, .*: commit it$/m,
      );
      const suite = join(HERE, "../cli/testdata/small_suite.ts");
      const wrong = await run(["sh", "bench.sh", "--record"], {
        cwd,
        env: { ...env, SUITE: suite, KERNEL: "zeros" },
      });
      assertEquals(wrong.code, 1, wrong.stderr);
      assertMatch(wrong.stderr, /^Not recorded: a kernel failed$/m);
      const folder = join(cwd, "recorded");
      const [device] = [...Deno.readDirSync(folder)].map(({ name }) => name);
      const csv = join(folder, device!, "example-c.csv");
      // Without samples `diff` judges by the columns.
      await Deno.remove(join(folder, device!, "example-c.samples.jsonl.gz"));
      const text = await Deno.readTextFile(csv);
      for (
        const [factor, expected, verdict] of [
          [20, 0, "2 faster"],
          [1 / 20, 1, "2 slower"],
        ] as const
      ) {
        await Deno.writeTextFile(csv, scaled(text, factor));
        // On a busy machine even such a difference may be unclear at first.
        let ended = await bench();
        for (let i = 1; i < 4 && !ended.stdout.includes(verdict); i++) {
          ended = await bench();
        }
        const { code, stdout, stderr } = ended;
        assert(stdout.includes(verdict), stdout);
        assertEquals(code, expected, stdout + stderr);
      }
    } finally {
      await Deno.remove(cwd, { recursive: true });
    }
  },
);

/**
 * `csv` as a quiet machine would have recorded it, with medians multiplied by `factor` and runs
 * 1 % apart. Its notes and configs have no comma.
 */
function scaled(csv: string, factor: number): string {
  const [head, ...lines] = csv.trimEnd().split("\n");
  const names = head!.split(",");
  const at = names.indexOf("median_us");
  return [
    head,
    ...lines.map((line) => {
      const cells = line.split(",");
      const us = Number(cells[at]) * factor;
      return cells.map((cell, i) => {
        if (cell === "") return cell;
        if (names[i] === "between_run_us") return `${us / 100}`;
        // Rates that contradict the time are refused.
        if (/^(tflops|gbps)$/.test(names[i]!)) return "";
        return /^(median|q1|q3|min|mean)_us$/.test(names[i]!) ? `${us}` : cell;
      }).join(",");
    }),
    "",
  ].join("\n");
}

cxxTest("examples/sweep prints the fastest kernel of each size", async () => {
  const cwd = await Deno.makeTempDir();
  try {
    const { code, stdout, stderr } = await run([
      Deno.execPath(),
      ...["run", "-A", "--quiet", "--config", join(HERE, "../deno.json")],
      ...[join(HERE, "sweep/sweep.ts"), "4,8", "64"],
    ], { cwd });
    assertEquals(code, 0, stderr);
    const [head, ...lines] = stdout.trimEnd().split("\n");
    assertEquals(head, "m=n\tk\tkernel\tmedian_us");
    assertEquals(lines.map((line) => line.split("\t").slice(0, 2)), [
      ["4", "64"],
      ["8", "64"],
    ]);
    for (const line of lines) {
      assertMatch(line, /\t(openblas|decompose-k)\t\d+\.\d\d$/);
    }
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

Deno.test("examples/sweep checks in a folder of its own, by the deno.json of the guide", async () => {
  const cwd = await Deno.makeTempDir();
  try {
    const guide = await Deno.readTextFile(
      join(HERE, "../docs/guide/adding-a-kernel.md"),
    );
    const [, config] = /```json\n(.*?)```/s.exec(guide)!;
    const home = join(HERE, "..").replace(/\/$/, "");
    await Deno.writeTextFile(
      join(cwd, "deno.json"),
      config!.replaceAll("PROJECT", home),
    );
    await Deno.copyFile(join(HERE, "sweep/sweep.ts"), join(cwd, "sweep.ts"));
    const { code, stderr } = await run(
      [Deno.execPath(), "check", "sweep.ts"],
      { cwd },
    );
    assertEquals(code, 0, stderr);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

const hasTransformers = await (async () => {
  const command = new Deno.Command("python3", {
    args: ["-c", "import torch, transformers"],
    stderr: "null",
  });
  try {
    return (await command.output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();

Deno.test({
  name: `examples/capture swaps layers and compares with the table${
    hasTransformers ? "" : " (ignored: python3 has no transformers)"
  }`,
  ignore: !hasTransformers,
  fn: async () => {
    using folder = temporary();
    const write = (name: string, text: string) =>
      Deno.writeTextFileSync(join(folder.path, name), text);
    const line = (label: string, calls: number, saved_ms: number) => ({
      label,
      calls,
      ms: 1,
      state: "measured",
      measured: {
        now: { kernel: "cublas", time_us: 9, timer: "chain:32" },
        fastest: { kernel: "auto", time_us: 6, timer: "chain:32" },
        saved_ms,
      },
    });
    const lines = [
      line("2×256×1024 bf16 nt", 2, 0.1),
      // 30 us a call, and the most of all.
      line("2×1024×256 bf16 nt", 10, 0.3),
      line("64×1024×256 bf16 nt", 10, 3),
      { label: "softmax", state: "other" },
    ];
    write("weights.json", JSON.stringify([{ lines }]));
    const swapped = async (result: string) => {
      write("mnk_matmul.py", `def matmul(a, b):\n    return ${result}\n`);
      return await run(["python3", join(HERE, "capture/swap.py"), "llama", ...[
        ...["--device", "cpu", "--size", "small", "--batch", "2"],
        ...["--rounds", "2", "--weights", "weights.json", "--export", "."],
      ]], { cwd: folder.path });
    };
    const { code, stdout, stderr } = await swapped("a @ b");
    assertEquals(code, 0, stderr);
    // Gates and ups of two layers: 4 x 30 us.
    assertMatch(stdout, /with 4 layers of N=1024, K=256 swapped: /);
    assertMatch(stdout, /^the table said: 120\.0 us; measured \/ said: /m);
    const wrong = await swapped("-(a @ b)");
    assertEquals(wrong.code, 1);
    assertMatch(wrong.stderr, /^the logits differ by 0\.\d+ of their norm$/m);
  },
});

Deno.test({
  name: `examples/capture keeps what a graph reads as long as the graph${
    hasTransformers ? "" : " (ignored: python3 has no transformers)"
  }`,
  ignore: !hasTransformers,
  fn: async () => {
    using folder = temporary();
    // PyTorch for CPUs has no graphs; that one keeps no tensor is as it is of CUDA.
    const script = `
import contextlib, gc, sys, types, unittest.mock, weakref
import torch
sys.path.insert(0, sys.argv[1])
import decode

class Graph:
    def replay(self): replays.append(self)

replays, streams, read = [], [], set()

class Model:
    def __init__(self): self.weight = torch.ones(1)
    def __call__(self, ids, use_cache):
        read.update((weakref.ref(ids), weakref.ref(self.weight)))
        return types.SimpleNamespace(logits=ids + self.weight)

def graph(_, stream=None):
    streams.append(stream)
    return contextlib.nullcontext()

with unittest.mock.patch.multiple(
    torch.cuda, CUDAGraph=Graph, Stream=object, graph=graph,
    stream=lambda _: contextlib.nullcontext(), synchronize=lambda: None,
):
    steps = [decode.graph_of(Model(), 2, "cpu")[0] for _ in range(2)]
gc.collect()
assert len(read) == 4 and all(one() is not None for one in read), read
assert None not in streams and streams[0] is not streams[1], streams
for step in steps: step()
assert len(set(map(id, replays))) == 2
del step, steps
replays.clear()
gc.collect()
assert all(one() is None for one in read), read
print("kept")
`;
    const { stdout, stderr } = await run(
      ["python3", "-c", script, join(HERE, "capture")],
      { cwd: folder.path },
    );
    assertEquals(stdout, "kept\n", stderr);
  },
});
