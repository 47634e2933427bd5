import { match, ok } from "node:assert/strict";
import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import { emulate, Workshop } from "../../testdata/emulated.ts";
import { cudaKernels } from "./cuda.ts";
import { qmm } from "../op.ts";
import { readPoint } from "../point.ts";
import { dotsMutants } from "../testdata/cuda_dots_mutants.ts";
import { qmvPlaces, qvmPlaces, tilePlaces } from "../testdata/cuda_points.ts";
import { tileMutants } from "../testdata/cuda_tile_mutants.ts";

for (const { name, at, ...change } of [...tileMutants, ...dotsMutants]) {
  cudaTest(
    `${at.kernel} on CUDA without ${name} is caught, ${change.file}`,
    async (device) => {
      // There it passes as it is: cuda_emulated_test.ts.
      ok([...tilePlaces, ...qmvPlaces, ...qvmPlaces].includes(at));
      using workshop = new Workshop(change, "cuda");
      const found = await emulate(device, workshop, {
        op: qmm,
        kernel: cudaKernels.find(({ name }) => name === at.kernel)!,
        point: readPoint(at.point),
        config: at.config,
      });
      match(
        found,
        /race|wrong|nobody wrote|no memory|across the end|under way|for ever|barrier|has ended/,
      );
    },
  );
}
