/** Each mutant in a source is in a list of the tests, and each of the lists in a source. */

import { deepStrictEqual, ok } from "node:assert/strict";
import type { MutantCase } from "./testdata/mutants.ts";
import { sites } from "./testdata/mutant_sites.ts";
import { blackwellMutants } from "./grouped/testdata/blackwell_mutants.ts";
import { cudaCases as groupedCases } from "./grouped/testdata/cuda_mutants.ts";
import { kernels as groupedKernels } from "./grouped/mod.ts";
import { splitkAtomic, splitkPartials } from "./matmul/hip/splitk/splitk.ts";
import { clusterCases } from "./matmul/testdata/cuda_cluster_mutants.ts";
import { splitCases } from "./matmul/testdata/cuda_mutants.ts";
import { hipCases } from "./matmul/testdata/hip_mutants.ts";
import { metalCases } from "./matmul/testdata/metal_mutants.ts";
import { kernels as matmulKernels } from "./matmul/mod.ts";
import { cudaCases as qmmCudaCases } from "./qmm/testdata/cuda_mutants.ts";
import { metalCases as qmmMetalCases } from "./qmm/testdata/metal_mutants.ts";
import { kernels as qmmKernels } from "./qmm/mod.ts";

type Cases = Readonly<
  Record<
    string,
    Pick<MutantCase<never>, "mutants"> & {
      readonly kernel: { readonly name: string; readonly backend: string };
    }
  >
>;
const MATMUL: readonly Cases[] = [
  splitCases,
  clusterCases,
  hipCases,
  metalCases,
];
const QMM: readonly Cases[] = [qmmCudaCases, qmmMetalCases];
const GROUPED: readonly Cases[] = [groupedCases];

Deno.test("sites() have a name of their own each", () => {
  const all = sites();
  ok(all.length > 250, `${all.length}`);
  deepStrictEqual(all.filter((name, i) => all.indexOf(name) !== i), []);
});

Deno.test("sites() are those that the lists of mutants name", () => {
  const listed = [...MATMUL, ...QMM, ...GROUPED].flatMap((cases) =>
    Object.values(cases).flatMap(({ mutants }) => mutants)
  );
  deepStrictEqual(
    [...new Set([...listed, ...blackwellMutants])].toSorted(),
    sites().toSorted(),
  );
});

/** Kernels of libraries, which have no source here; blackwell's are tried on its own model. */
const NO_MUTANTS = /^(cuda|hip) .*blas|bmm-sum$|^cuda blackwell$|^cpu /;

for (
  const [name, kernels, lists] of [
    ["matmul", [...matmulKernels, splitkPartials, splitkAtomic], MATMUL],
    ["qmm", qmmKernels, QMM],
    ["grouped", groupedKernels, GROUPED],
  ] as const
) {
  Deno.test(`kernels of ${name} for GPUs have a mutant each`, () => {
    const tried = lists.flatMap((cases) =>
      Object.values(cases).map(({ kernel, mutants }) => {
        ok(mutants.length > 0, kernel.name);
        return `${kernel.backend} ${kernel.name}`;
      })
    );
    const wanted = kernels.map(({ backend, name }) => `${backend} ${name}`)
      .filter((kernel) => !NO_MUTANTS.test(kernel));
    deepStrictEqual([...new Set(tried)].toSorted(), wanted.toSorted());
  });
}
