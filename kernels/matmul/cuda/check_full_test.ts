import { match, ok, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { cxxTest } from "../../../backends/testdata/cxx.ts";
import { emulatedCheck } from "../../testdata/check.ts";
import { cudaKernels } from "./cuda.ts";

const SUITE = new URL("../testdata/cuda_edge_suite.ts", import.meta.url);

cxxTest(
  "check --backend cuda passes at matmul's edge-case shapes on the emulator",
  async () => {
    const rows = await emulatedCheck("cuda", ["--suite", fileURLToPath(SUITE)]);
    const of = (status: string) => rows.filter((row) => row.status === status);
    const kernels = cudaKernels.filter(({ name }) =>
      !/^cublas|^bmm-sum$/.test(name)
    );
    // Every kernel in every type, and in each layout that it takes.
    for (const { name } of kernels) {
      const types = ["bf16", "f16", ...(name === "wgmma-k" ? [] : ["f32"])];
      for (const a_type of types) {
        const right = of("checked").filter((row) =>
          row.kernel === name && row.a_type === a_type
        );
        ok(right.length >= 1, `${name} ${a_type}`);
      }
      const layouts = of("checked").filter((row) => row.kernel === name)
        .map(({ layout }) => layout);
      strictEqual(
        new Set(layouts).size,
        ["cluster-k-swapped", "wgmma-k"].includes(name) ? 1 : 2,
        name,
      );
    }
    for (const { note } of of("unsupported")) {
      match(
        note,
        /no split of K|no epilogue|slices of 16 leave some without|slices of 32 leave some|stored by columns|IEEE fp32|by 16 bytes|registers for 8 rows/,
      );
    }
  },
);
