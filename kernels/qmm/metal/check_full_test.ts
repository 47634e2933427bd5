import { deepStrictEqual, match, ok } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { cxxTest } from "../../../backends/testdata/cxx.ts";
import { allFormats } from "../../../bench/formats/quant_format.ts";
import { formatValues } from "../../../bench/model/grid.ts";
import { emulatedCheck } from "../../testdata/check.ts";
import { metalKernels } from "./metal.ts";
import { TYPES } from "../point.ts";

const SUITE = new URL("../testdata/metal_edge_suite.ts", import.meta.url);

cxxTest(
  "check --backend metal passes at qmm's edge-case shapes on the emulator",
  async () => {
    const rows = await emulatedCheck("metal", [
      ...["--suite", fileURLToPath(SUITE)],
    ]);
    const of = (status: string) => rows.filter((row) => row.status === status);
    deepStrictEqual(
      of("checked").length + of("unsupported").length,
      rows.length,
    );
    const least: Readonly<Record<string, number>> = {
      ...{ mlx: 25, "qmm-splitk": 25, qmv: 17, qmm_t: 17, qmm_t_splitk: 9 },
      ...{ qvm: 8, qmm_n: 8, qvm_split_k: 2 },
    };
    deepStrictEqual(
      metalKernels.map(({ name }) => name).toSorted(),
      Object.keys(least).toSorted(),
    );
    for (const [name, count] of Object.entries(least)) {
      for (const a_type of TYPES) {
        const right = of("checked").filter((row) =>
          row.kernel === name && row.a_type === a_type
        );
        ok(right.length >= count, `${name} ${a_type}: ${right.length}`);
      }
    }
    // Every mode, and every width of affine codes.
    for (const { mode, bits } of allFormats()) {
      const text = mode === "affine" ? formatValues({ mode, bits }) : `${mode}`;
      ok(of("checked").some(({ params }) => params.includes(text)), text);
    }
    for (const row of of("unsupported")) {
      match(row.note, /it multiplies by W|does not cut K/);
    }
  },
);
