import { deepStrictEqual } from "node:assert/strict";
import { cudaKernels } from "./cuda.ts";
import { qmm } from "../op.ts";
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

const distinct = () =>
  distinctBuilds(
    [...cudaKernels, ...qmm.referenceKernels ?? []],
    qmm.edgeCases,
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
  // The one that quantises is never timed.
  fn: () => compileWithoutSpills(smallestOfEach(distinct()), true),
});
