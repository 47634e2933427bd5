import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cudaPath } from "../../../backends/testdata/cuda_mocks.ts";
import { emulatedDriver } from "../../../backends/testdata/emulated.ts";
import { cxxTest } from "../../../backends/testdata/mocks.ts";
import type { Overrides } from "../../../bench/model/axes.ts";
import { exported, run } from "./testdata/exported.ts";

/** Compiles the C program `source` of an export for the emulated driver `library`; its path. */
async function compiledInC(
  out: string,
  { source, library = cudaPath(), more = ["-std=c99"] }: {
    readonly source: string;
    readonly library?: string | undefined;
    readonly more?: readonly string[] | undefined;
  },
): Promise<string> {
  const program = join(dirname(out), "program");
  const { code, stderr } = await run("cc", [
    ...["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", ...more],
    `-DMNK_CUDA_LIBRARY="${library}"`,
    ...["-o", program, source, "-ldl", "-lm"],
  ]);
  assertStrictEquals(code, 0, stderr);
  return program;
}

/** Runs the C program of an export on the emulated driver `library`. */
async function testedInC(
  out: string,
  library?: string,
  more?: readonly string[],
) {
  const source = join(out, "test_matmul.c");
  const program = await compiledInC(out, { source, library, more });
  return await run(program, [join(out, "mnk_matmul.bin"), "--no-time"]);
}

const CHAIN = fileURLToPath(new URL("./testdata/chain.c", import.meta.url));

/** The path of a driver whose device has another architecture. */
function otherArch(): string {
  return emulatedDriver("cuda", "other/libcuda.so.1", ["-DCUDA_SM=100"]);
}

/** Kernels with every kind of argument, and the shapes that they are tested at. */
const CASES: readonly (readonly [string, Overrides])[] = [
  ["cluster-k", { m: [1, 2, 3, 16, 17], k: [250], epilogue: ["bias+relu"] }],
  ["cluster-k", { m: [7], k: [256], type: ["f16", "f32"], layout: ["nn"] }],
  ["exchange-k", { m: [1, 2, 33], k: [2048], epilogue: ["none"] }],
  ["wgmma-k", { m: [5, 6, 64, 65], k: [256], epilogue: ["bias", "relu"] }],
  ["columns-k", { m: [5, 16, 65], k: [256], epilogue: ["bias", "relu"] }],
  ["decompose-k", { m: [3, 4, 5], k: [512], epilogue: ["relu"] }],
  ["decompose-k", { m: [3], k: [512], epilogue: ["bias"], stepc: [1, 2] }],
  ["decompose-k-unfused", { m: [4], k: [512], epilogue: ["bias"] }],
  ["decompose-k-pdl", { m: [3, 4], k: [512], epilogue: ["bias"] }],
  ["dot", { m: [1, 2, 3, 8], k: [128], lda: [136] }],
  ["auto", { m: [1, 2, 8, 31], k: [1024] }],
];

for (const [kernel, axes] of CASES) {
  cxxTest(
    `an exported ${kernel} is right on the emulator at ${JSON.stringify(axes)}`,
    async () => {
      const overrides = { n: [40], layout: ["nt"], ...axes };
      await exported("matmul", [kernel], overrides, async (out) => {
        const { code, stdout } = await testedInC(out);
        assertMatch(stdout, /^ok {3}m=.*\n(?:ok {3}.*\n)*0 failures\n$/);
        assertStrictEquals(code, 0, stdout);
      });
    },
  );
}

/** Kernels that start early: with an argument that says so, without one, and of two launches. */
const EARLY: readonly (readonly [string, Overrides])[] = [
  ["dot", { m: [2], layout: ["nn"] }],
  ["cluster-k", { m: [3] }],
  ["wgmma-k", { m: [5] }],
  ["columns-k", { m: [5] }],
  ["decompose-k-pdl", { m: [4], n: [256], k: [256] }],
];

for (const [kernel, axes] of EARLY) {
  cxxTest(
    `calls of an exported ${kernel} with --pdl read what the call before wrote`,
    () => {
      const overrides = {
        n: [128],
        k: [128],
        layout: ["nt"],
        epilogue: ["none"],
        ...axes,
      };
      return exported("matmul", [kernel], overrides, async (out) => {
        const program = await compiledInC(out, {
          source: CHAIN,
          more: ["-std=c99", `-DPROGRAM="${join(out, "test_matmul.c")}"`],
        });
        const { code, stdout, stderr } = await run(program, [
          join(out, "mnk_matmul.bin"),
        ]);
        assertMatch(stdout, /^ok {3}m=\d+: 0 wrong\n0 failures\n$/, stderr);
        assertStrictEquals(code, 0);
      }, true);
    },
  );
}

cxxTest("exported kernels share a workspace that is filled once", async () => {
  const axes = { m: [2, 3], n: [40], k: [512, 2047], layout: ["nt"] };
  // Of these kernels one leaves anything in the workspace, the other an empty mailbox.
  await exported("matmul", ["decompose-k", "exchange-k"], axes, async (out) => {
    const header = await Deno.readTextFile(join(out, "mnk_matmul.h"));
    assertMatch(header, /"partial_mma"[^]*"cluster_mma"/);
    assertMatch(header, /mnk_matmul_kept\[\] = \{\n {2}\{0, \d+, 255\}/);
    const { code, stdout } = await testedInC(out);
    assertStrictEquals(code, 0, stdout);
  });
});

cxxTest(
  "an export is C++17, finds wrong results, other devices and damaged files",
  async () => {
    const axes = { m: [1, 2, 3], n: [40], k: [256], layout: ["nt"] };
    await exported("matmul", ["cluster-k"], axes, async (out) => {
      const files = [...Deno.readDirSync(out)].map(({ name }) => name);
      assertEquals(files.toSorted(), [
        ...["LICENSE", "mnk_launch.h", "mnk_matmul.bin", "mnk_matmul.h"],
        ...["mnk_matmul.py", "test_matmul.c", "test_matmul.py"],
        "torch_matmul.cpp",
      ]);
      const cxx = ["-x", "c++", "-std=c++17"];
      const { code, stdout } = await testedInC(out, cudaPath(), cxx);
      assertStrictEquals(code, 0, stdout);

      const refused = await testedInC(out, otherArch());
      assertStrictEquals(refused.code, 2);
      assertMatch(refused.stderr, /or of another architecture \(6\)$/m);

      // The program sees a wrong argument: M is one less.
      const header = join(out, "mnk_matmul.h");
      const text = await Deno.readTextFile(header);
      const wrong = text.replace(
        "{MNK_INTEGER32, 0, 0, {0, 1}}",
        "{MNK_INTEGER32, 0, 0, {-1, 1}}",
      );
      assertStrictEquals(wrong === text, false);
      await Deno.writeTextFile(header, wrong);
      assertMatch(
        (await testedInC(out)).stdout,
        /^FAIL m=[^]*[1-9] failures$/m,
      );
      await Deno.writeTextFile(header, text);

      const file = join(out, "mnk_matmul.bin");
      const bytes = await Deno.readFile(file);
      bytes[bytes.length >> 1]! ^= 1;
      await Deno.writeFile(file, bytes);
      const damaged = await testedInC(out);
      assertStrictEquals(damaged.code, 2);
      assertMatch(damaged.stderr, /damaged or not of this header \(7\)$/m);
      await Deno.writeFile(file, bytes.subarray(1));
      assertStrictEquals((await testedInC(out)).code, 2);
    });
  },
);

/** Exports `dot` at one point of each K. */
function twoExports(
  work: (one: string, two: string) => Promise<void>,
): Promise<void> {
  const exportedAt = (k: number, then: (out: string) => Promise<void>) => {
    const axes = { m: [1], n: [40], k: [k], layout: ["nt"] };
    return exported("matmul", ["dot"], { ...axes, epilogue: ["none"] }, then);
  };
  return exportedAt(128, (one) => exportedAt(256, (two) => work(one, two)));
}

cxxTest(
  "two exports are in one C program, of files of their own",
  () =>
    twoExports(async (one, two) => {
      const folder = dirname(one);
      const include = (out: string) =>
        `#include "${join(out, "mnk_matmul.h")}"\n`;
      const kOf = (out: string, name: string) =>
        `${include(out)}${include(out)}long ${name}(void) {
  mnk_matmul_args args;
  int64_t to;
  return mnk_matmul_shape(0, &args, &to) ? (long)args.k : 0;
}
`;
      const main = `long one(void);
long two(void);
int main(void) { return one() == 128 && two() == 256 ? 0 : 1; }
`;
      const files = Object.entries({
        "one.c": kOf(one, "one"),
        "two.c": kOf(two, "two"),
        "main.c": main,
      }).map(([name, text]) => {
        Deno.writeTextFileSync(join(folder, name), text);
        return join(folder, name);
      });
      const flags = ["-std=c99", "-pedantic", "-w"];
      const program = join(folder, "both");
      const built = await run("cc", [
        ...flags,
        "-o",
        program,
        ...files,
        "-ldl",
      ]);
      assertStrictEquals(built.code, 0, built.stderr);
      assertStrictEquals((await run(program, [])).code, 0);

      const both = join(folder, "both.c");
      Deno.writeTextFileSync(both, include(one) + include(two));
      const refused = await run("cc", [...flags, "-fsyntax-only", both]);
      assertMatch(
        refused.stderr,
        /mnk_matmul\.h of another export is included: give each a file of its own/,
      );
    }),
);

const hasTorch = await (async () => {
  try {
    const script = "import torch, torch.utils.cpp_extension";
    return (await run("python3", ["-c", script])).code === 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();

/** Runs `testdata/torch/NAME` with `args`. */
function python(name: string, ...args: readonly string[]) {
  const script = new URL(`./testdata/torch/${name}`, import.meta.url);
  return run("python3", [fileURLToPath(script), ...args]);
}

/** Runs `testdata/torch/NAME` with `args` and expects that it says so. */
async function inTorch(name: string, ...args: readonly string[]) {
  const { code, stdout, stderr } = await python(name, ...args);
  assertEquals(
    [code, stdout.split("\n").at(-2)],
    [0, "0 failures"],
    stderr,
  );
}

function torchTest(name: string, fn: () => Promise<void>) {
  Deno.test({
    name: `${name}${hasTorch ? "" : " (ignored: python3 has no torch)"}`,
    ignore: !hasTorch,
    fn,
  });
}

torchTest("the PyTorch operator of an export is right on the emulator", () => {
  const axes = {
    m: [1, 17],
    n: [40],
    k: [2048],
    layout: ["nt", "nn"],
    epilogue: ["none", "bias+relu"],
  };
  const kernels = ["exchange-k", "decompose-k"];
  return exported("matmul", kernels, axes, async (out) => {
    await inTorch("emulated.py", out, cudaPath());
    await inTorch("other.py", out, otherArch());
  });
});

torchTest(
  "two exports are in one PyTorch process",
  () => twoExports((one, two) => inTorch("two.py", one, two, cudaPath())),
);

torchTest(
  "the PyTorch operator of an export refuses tensors of the CPU",
  () => twoExports((one) => inTorch("cpu.py", one, cudaPath())),
);

torchTest("examples/export/times.py times an export on the emulator", () => {
  // Rows of padded matrices, one of an epilogue, which it leaves out, and one too many.
  const axes = {
    m: [1, 3, 4],
    n: [40],
    k: [128],
    lda: [136],
    layout: ["nt"],
    epilogue: ["none", "relu"],
  };
  return exported("matmul", ["dot"], axes, async (out) => {
    const program = join(out, "test_matmul.c");
    const text = await Deno.readTextFile(program);
    const few = text.replace(
      "BURST = 100, BURSTS = 41",
      "BURST = 1, BURSTS = 3",
    );
    assertStrictEquals(few === text, false);
    await Deno.writeTextFile(program, few);
    const options = ["--m", "1,3,4,5", "--shapes", "2"];
    const { code, stdout, stderr } = await python(
      ...["times.py", out, cudaPath(), ...options] as const,
    );
    assertStrictEquals(code, 0, stderr);
    const us = String.raw`\d+\.\d\d`;
    const lines = (pattern: string) => stdout.match(RegExp(pattern, "gm"));
    const alone = `C: ${us} us a call, ${us} us for its 1 launches alone`;
    assertStrictEquals(lines(`^${alone}, -?${us} us more$`)?.length, 2, stdout);
    assertMatch(
      stdout,
      /^C: at most -?[\d.]+ us above bare launches \(2 us are asked for\)$/m,
    );
    assertMatch(
      stdout,
      /^MxNxK +exported +torch\.mm +compile +exported +torch\.ops +torch\.mm +compile +ratio$/m,
    );
    const rows = lines(`^(?:1|3)x40x128(?: +${us}){8} $`);
    assertStrictEquals(rows?.length, 2, stdout);
    assertMatch(
      stdout,
      /^host: .* in the geometric mean, [\d.]+ at most \(1\.1 are asked for\)\n1 of 3 shapes were not timed/m,
    );
    const none = await python("times.py", out, cudaPath(), "--m", "9");
    assertStrictEquals(none.code, 1);
    assertMatch(none.stderr, /has no shape of M=9 without an epilogue$/m);
  });
});
