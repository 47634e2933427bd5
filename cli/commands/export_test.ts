import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { join } from "node:path";
import { cuda } from "../../backends/cuda/cuda.ts";
import { CaseError, UserError } from "../../bench/model/errors.ts";
import { exportKernels, type ExportOptions } from "./export/files.ts";

const MATMUL: Omit<ExportOptions, "out"> = {
  ...{ op: "matmul", suites: [], kernels: ["cluster-k"], where: {} },
  overrides: { m: [1, 2], n: [64], k: [256] },
  ...{ quick: false, arch: "sm_90a", kernelCache: undefined },
};

/** Runs `work` with a folder that is removed afterwards, and what is left in it. */
async function within(
  work: (out: string, folder: string) => Promise<void>,
): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir({ prefix: "export" });
  try {
    await work(join(folder, "out"), folder);
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const REFUSED: readonly (readonly [Partial<ExportOptions>, RegExp])[] = [
  [{ arch: "sm_5" }, /^No architecture is named sm_5: give one such as/],
  [{ arch: "gfx942" }, /^Cannot export for gfx942: only CUDA kernels/],
  [{ op: "conv" }, /^No operation is named conv: there are matmul, /],
  [{ op: "grouped-matmul" }, /^Cannot export grouped-matmul: .* another op/],
  [{ kernels: ["naive"] }, /^No kernel is named naive: /],
  [{ overrides: {} }, /^Cannot export without shapes: give --m, --n and --k/],
  [{ overrides: { m: [1] } }, /n is missing: give a whole number/],
  [{ op: undefined }, /^Cannot export without shapes: give --op with/],
  [
    { arch: "sm_80" },
    /^Cannot export m=1 n=64 k=256 .* for sm_80: cluster-k: .*; choose other/,
  ],
  [
    { kernels: ["cublas", "wgmma-k"] },
    /: cublas: it calls a library, .*; wgmma-k: .* layout nt; choose other/,
  ],
  [
    { kernels: ["dot"], overrides: { m: [9], n: [64], k: [256] } },
    /dot: M=9: a thread has registers for 8 rows of sums; choose other sizes/,
  ],
  [
    { suites: ["matmul-bf16", "mlx-qmm"], op: undefined },
    /^(?:No kernel of .* is named|Cannot export suites of matmul and qmm)/,
  ],
];

for (const [options, message] of REFUSED) {
  Deno.test(`exportKernels() refuses ${JSON.stringify(options)}, writing nothing`, async () => {
    const left = await within(async (out) => {
      const error = await assertRejects(
        () => exportKernels({ ...MATMUL, out, ...options }),
        UserError,
      );
      const { message: said } = error;
      assertStrictEquals(message.test(said), true, said);
      assertEquals([error.code, said.includes("\n")], [2, false]);
    });
    assertEquals(left, []);
  });
}

Deno.test("exportKernels() refuses a folder with something in it", async () => {
  const left = await within(async (_, folder) => {
    await Deno.writeTextFile(join(folder, "mine"), "");
    await assertRejects(
      () => exportKernels({ ...MATMUL, out: folder }),
      UserError,
      "it is not empty; name a new folder",
    );
  });
  assertEquals(left, ["mine"]);
});

Deno.test("exportKernels() writes nothing where a kernel does not compile", async () => {
  const left = await within(async (out, folder) => {
    const backend = {
      ...cuda(),
      compiler() {
        throw new CaseError("compile", "no compiler");
      },
    };
    const kernelCache = join(folder, "kernels");
    const code = await exportKernels({ ...MATMUL, out, kernelCache }, backend);
    assertStrictEquals(code, 1);
  });
  assertEquals(left, []);
});
