import { deepStrictEqual, match, ok } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { cxxTest } from "../../../backends/testdata/cxx.ts";
import { emulatedCheck } from "../../testdata/check.ts";
import { metalKernels } from "./metal.ts";

const SUITE = new URL("../testdata/metal_edge_suite.ts", import.meta.url);

cxxTest(
  "check --backend metal passes at matmul's edge-case shapes on the emulator",
  async () => {
    const rows = await emulatedCheck("metal", [
      ...["--suite", fileURLToPath(SUITE)],
    ]);
    const of = (status: string) => rows.filter((row) => row.status === status);
    deepStrictEqual(
      of("checked").length + of("unsupported").length,
      rows.length,
    );
    for (const kernel of metalKernels) {
      for (const a_type of ["bf16", "f16", "f32"]) {
        const right = of("checked").filter((row) =>
          row.kernel === kernel.name && row.a_type === a_type
        );
        ok(right.length >= 2, `${kernel.name} ${a_type}: ${right.length}`);
      }
    }
    for (const row of of("unsupported")) {
      match(row.note, /no split of K|no epilogue/);
    }
  },
);
