import { deepStrictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { cxxTest } from "../../../backends/testdata/cxx.ts";
import { emulatedCheck } from "../../testdata/check.ts";
import { cudaKernels } from "./cuda.ts";

const SUITE = new URL("../testdata/cuda_edge_suite.ts", import.meta.url);

cxxTest(
  "check --backend cuda passes at short lists on the emulator",
  async () => {
    const rows = await emulatedCheck("cuda", ["--suite", fileURLToPath(SUITE)]);
    const seen = rows.map(({ kernel, layout, status }) =>
      `${kernel} ${layout} ${status}`
    );
    deepStrictEqual(
      [...new Set(seen)].sort(),
      cudaKernels.flatMap(({ name }) => {
        const status = name === "blackwell" ? "unsupported" : "checked";
        return [`${name} nt ${status}`, `${name} nt-mmajor ${status}`];
      }).sort(),
    );
  },
);
