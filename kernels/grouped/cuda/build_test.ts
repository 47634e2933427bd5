import { deepStrictEqual } from "node:assert/strict";
import { cudaKernels } from "./cuda.ts";
import { groupedMatmul } from "../op.ts";
import { BENCH_LISTS } from "../gpu_mode.ts";
import {
  distinctBuilds,
  fileOf,
  smallestOfEach,
} from "../../testdata/cuda_builds.ts";
import {
  ARCH,
  compileWithoutSpills,
  skipped,
  withoutNvcc,
} from "../../testdata/spills.ts";

const POINTS = [
  ...groupedMatmul.edgeCases,
  ...BENCH_LISTS.map(({ m, n, k }) =>
    groupedMatmul.point({ m: m.join("+"), n, k })
  ),
  groupedMatmul.point({ m: "80+40", n: 4096, k: 512, layout: "nt-mmajor" }),
];

const distinct = () =>
  distinctBuilds(
    [...cudaKernels, ...groupedMatmul.referenceKernels ?? []],
    POINTS,
  );

Deno.test("builds() name every source file", () => {
  const files = [...Deno.readDirSync(new URL(".", import.meta.url))]
    .map(({ name }) => name).filter((name) => name.endsWith(".cu"));
  const all = distinct();
  deepStrictEqual([...new Set(all.map(fileOf))].sort(), files.sort());
});

Deno.test({
  name: `builds() of each source compile for ${ARCH}${skipped}`,
  ignore: withoutNvcc,
  // The larger its step, the fewer sizes of a tile best.cu has.
  fn: () =>
    compileWithoutSpills(
      smallestOfEach(distinct().filter(({ defines }) => defines.STEP !== 8)),
    ),
});
