import { assertEquals } from "@std/assert";
import { ops } from "./mod.ts";
import { casesOf, EMULATED } from "./testdata/cases.ts";
import {
  ARCH,
  compileWithoutSpills,
  distinctBuilds,
  fileOf,
  skipped,
  smallestOfEach,
  withoutNvcc,
} from "./testdata/cuda_builds.ts";
import { mutantTests } from "./testdata/mutants.ts";

/** The names of the CUDA sources in a folder of kernels and below it. */
function sources(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory && name !== "testdata"
      ? sources(new URL(`${name}/`, folder))
      : name.endsWith(".cu")
      ? [name]
      : []
  );
}

for (const entry of ops) {
  const { folder, op, kernels } = entry;
  const { built = op.edgeCases, neverRun = [], stack } = await casesOf(entry);
  const distinct = () =>
    distinctBuilds([...kernels, ...op.referenceKernels ?? []], built);

  Deno.test(`builds() of ${op.name} name every CUDA source`, () => {
    const compiled = distinct().map(fileOf);
    // A kernel that no H200 runs is compiled by a test of its own.
    const others = neverRun.map((name) => `${name}.cu`);
    assertEquals(
      [...new Set([...compiled, ...others])].toSorted(),
      sources(new URL(`${folder}/`, import.meta.url)).toSorted(),
    );
  });

  Deno.test({
    name:
      `builds() of each CUDA source of ${op.name} compile for ${ARCH}${skipped}`,
    ignore: withoutNvcc,
    fn: () => compileWithoutSpills(smallestOfEach(distinct()), stack),
  });
}

for (const backend of EMULATED) await mutantTests(backend, "quick");
