import { deepStrictEqual, match, ok } from "node:assert/strict";
import { cxxTest } from "../../../../backends/testdata/cxx.ts";
import { emulatedCheck } from "../../../testdata/check.ts";

cxxTest(
  "check --backend hip passes for the split-K kernels of the decode suites on the emulator",
  async () => {
    const rows = await emulatedCheck("hip", [
      ...["--suite", "decode-bf16-k7168"],
      ...["--kernel", "splitk-lds,splitk-lds-atomic"],
      // The edge-case shape that these kernels take, and the smallest of the suite.
      ...["--m", "4,17", "--n", "64,256", "--k", "256,7168"],
    ]);
    const of = (kernel: string) => rows.filter((row) => row.kernel === kernel);
    deepStrictEqual(
      ["splitk-lds", "splitk-lds-atomic"].map((name) => of(name).length),
      [8, 8],
    );
    deepStrictEqual([...new Set(rows.map(({ status }) => status))], [
      "checked",
    ]);
    ok(of("splitk-lds").every((row) => row.deterministic && !row.note));
    const atomic = of("splitk-lds-atomic");
    for (const { note } of atomic) match(note, /^right to within [\d.]+ \+ /);
    // 16-bit sums of seven splits depend on who comes first.
    ok(atomic.some((row) => row.k === 7168 && !row.deterministic));
  },
);
