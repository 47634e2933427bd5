import { assertEquals } from "@std/assert";
import { cudaTest } from "../backends/testdata/cuda_mocks.ts";
import { ops } from "./mod.ts";
import { casesOf, title } from "./testdata/cases.ts";
import { unrounded } from "./testdata/answers.ts";
import { emulate } from "./testdata/emulated.ts";

for (const entry of ops) {
  const kernel = entry.op.referenceKernels?.find(({ backend }) =>
    backend === "cuda"
  );
  if (!kernel) continue;
  const { references = entry.op.edgeCases, fill = "normal" } = await casesOf(
    entry,
  );
  const op = unrounded(entry.op, 1e-9);
  cudaTest(
    `the CUDA reference of ${op.name} agrees with the host`,
    async (device) => {
      for (const point of references) {
        const found = await emulate(device, {
          ...{ op, kernel, point, config: {}, seeds: [1], fill },
        });
        assertEquals(found, "", title(entry.op, point));
      }
    },
  );
}
