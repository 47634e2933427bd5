import { ops } from "./mod.ts";
import { casesOf } from "./testdata/cases.ts";
import {
  ARCH,
  compileWithoutSpills,
  distinctBuilds,
  skipped,
  withoutNvcc,
} from "./testdata/cuda_builds.ts";

for (const entry of ops) {
  const { op, kernels } = entry;
  const { built = op.edgeCases, chosen = (all) => all, stack } = await casesOf(
    entry,
  );
  Deno.test({
    name:
      `builds() of ${op.name} compile for ${ARCH} without spilling or waiting for products${skipped}`,
    ignore: withoutNvcc,
    async fn() {
      const all = distinctBuilds(
        [...kernels, ...op.referenceKernels ?? []],
        built,
      );
      await compileWithoutSpills(chosen(all), stack);
    },
  });
}
