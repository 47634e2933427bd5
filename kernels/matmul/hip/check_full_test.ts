import { deepStrictEqual, match, ok } from "node:assert/strict";
import { cxxTest } from "../../../backends/testdata/cxx.ts";
import { emulatedCheck } from "../../testdata/check.ts";
import { hipKernels } from "./hip.ts";

cxxTest(
  "check --backend hip passes at the edge-case shapes on the emulator",
  async () => {
    const rows = await emulatedCheck("hip", [
      ...["--suite", "epilogue-bf16", "--quick"],
    ]);
    const of = (status: string) => rows.filter((row) => row.status === status);
    deepStrictEqual(
      of("checked").length + of("unsupported").length,
      rows.length,
    );
    // A library is not emulated: backends/hip has its tests, over a mock of it.
    const ours = hipKernels.filter(({ name }) =>
      !/^hipblas|^bmm-sum$/.test(name)
    );
    ok(ours.length >= 4);
    // Every kernel in every type, at shapes of every kind that it takes.
    for (const kernel of ours) {
      for (const a_type of ["bf16", "f16", "f32"]) {
        const right = of("checked").filter((row) =>
          row.kernel === kernel.name && row.a_type === a_type
        );
        ok(right.length >= 2, `${kernel.name} ${a_type}: ${right.length}`);
      }
    }
    for (const row of of("unsupported")) {
      match(
        row.note,
        /no split of K|no epilogue|is not emulated/,
      );
    }
  },
);
