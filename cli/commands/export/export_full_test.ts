import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import {
  cudaPath,
  emulatedCuda,
} from "../../../backends/testdata/cuda_mocks.ts";
import { cxxTest } from "../../../backends/testdata/mocks.ts";
import { exportKernels } from "./files.ts";

/** Exports for the emulator and runs the C program of the export on it. */
async function tested(
  kernels: readonly string[],
  overrides: Readonly<Record<string, readonly (string | number)[]>>,
): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "export" });
  try {
    const out = join(folder, "out");
    const code = await exportKernels({
      ...{ op: "matmul", suites: [], kernels, overrides, where: {} },
      ...{ quick: false, arch: "sm_90a", out },
      kernelCache: join(folder, "kernels"),
    }, emulatedCuda());
    assertEquals(code, 0);
    const program = join(folder, "test_matmul");
    await run("cc", [
      ...["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"],
      `-DMNK_CUDA_LIBRARY="${cudaPath()}"`,
      ...["-o", program, join(out, "test_matmul.c"), "-ldl", "-lm"],
    ]);
    return await run(program, [join(out, "mnk_matmul.bin"), "--no-time"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(
  program: string,
  args: readonly string[],
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
  })
    .output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assertEquals(code, 0, `${program}: ${text(stdout)}${text(stderr)}`);
  return text(stdout);
}

/** Kernels with every kind of argument, and the shapes that they are tested at. */
const CASES = [
  ["cluster-k", { m: [1, 2, 3, 16, 17], k: [250], epilogue: ["bias+relu"] }],
  ["cluster-k", { m: [7], k: [256], type: ["f16", "f32"], layout: ["nn"] }],
  ["exchange-k", { m: [1, 2, 33], k: [2048], epilogue: ["none"] }],
  ["wgmma-k", { m: [5, 6, 64, 65], k: [256], epilogue: ["bias", "relu"] }],
  ["decompose-k", { m: [3, 4, 5], k: [512], epilogue: ["relu"] }],
  ["decompose-k-pdl", { m: [3, 4], k: [512], epilogue: ["bias"] }],
  ["dot", { m: [1, 2, 3, 8], k: [128], lda: [136] }],
] as const;

for (const [kernel, axes] of CASES) {
  cxxTest(
    `the C program of an export of ${kernel} finds it right on the emulator, ${
      JSON.stringify(axes)
    }`,
    async () => {
      const output = await tested([kernel], {
        n: [40],
        layout: ["nt"],
        ...axes,
      });
      assertMatch(output, /^0 failures$/m);
    },
  );
}
