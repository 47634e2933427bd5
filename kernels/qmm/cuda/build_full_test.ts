import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { cudaKernels } from "./cuda.ts";
import { qmm } from "../op.ts";
import { distinctBuilds, textOf } from "../../testdata/cuda_builds.ts";
import {
  ARCH,
  compileWithoutSpills,
  skipped,
  withoutNvcc,
} from "../../testdata/spills.ts";

const distinct = () =>
  distinctBuilds(
    [...cudaKernels, ...qmm.referenceKernels ?? []],
    qmm.edgeCases,
  );

/** Widths that divide a word and that do not, and each mode without a width. */
const CHOSEN = [
  "reference.cu TYPE=bf16",
  "reference.cu TYPE=f16",
  "dequantise.cu TYPE=f16 MODE=AFFINE BITS=3",
  "dequantise.cu TYPE=bf16 MODE=AFFINE BITS=8",
  "dequantise.cu TYPE=bf16 MODE=MXFP8 BITS=8",
  "dequantise.cu TYPE=f16 MODE=NVFP4 BITS=4",
];

Deno.test("CHOSEN are builds()", () => {
  const all = distinct().map(textOf);
  deepStrictEqual(CHOSEN.filter((build) => !all.includes(build)), []);
});

Deno.test({
  name: `builds() compile for ${ARCH} without spilling${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    const chosen = distinct().filter((b) => CHOSEN.includes(textOf(b)));
    strictEqual(chosen.length, CHOSEN.length);
    // The one that quantises is never timed.
    await compileWithoutSpills(chosen, true);
  },
});
