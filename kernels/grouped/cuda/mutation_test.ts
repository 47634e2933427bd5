import { match, strictEqual } from "node:assert/strict";
import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import type { Device } from "../../../bench/device/device.ts";
import { emulate, Workshop } from "../../testdata/emulated.ts";
import { cudaKernels } from "./cuda.ts";
import { groupedMatmul } from "../op.ts";
import { bestMutants } from "../testdata/cuda_best_mutants.ts";
import { MutantWorkshop, wheres } from "../testdata/cuda_mutants.ts";
import { plainMutants } from "../testdata/cuda_plain_mutants.ts";
import { ringMutants } from "../testdata/cuda_ring_mutants.ts";
import { ofStages, ofUnits } from "../testdata/cuda_short.ts";
import { tileMutants } from "../testdata/cuda_tile_mutants.ts";

/** What the emulator finds, in the order of some seeds. */
async function found(
  device: Device,
  workshop: Workshop,
  at: keyof typeof wheres,
): Promise<string> {
  const { kernel: name, point, config, units, stages } = wheres[at];
  const kernel = ofStages(cudaKernels.find((k) => k.name === name)!, stages);
  return await emulate(ofUnits(device, units), workshop, {
    ...{ op: groupedMatmul, kernel, point, config },
    seeds: [1, 2, 3],
  });
}

const original = new Workshop(undefined, "cuda");
addEventListener("unload", () => original[Symbol.dispose]());

for (const at of Object.keys(wheres) as (keyof typeof wheres)[]) {
  cudaTest(
    `${wheres[at].kernel} on CUDA passes where its mutants are caught: ${at}`,
    async (device) => {
      strictEqual(await found(device, original, at), "");
    },
  );
}

for (
  const [name, at, file, from, to] of [
    ...plainMutants,
    ...ringMutants,
    ...bestMutants,
    ...tileMutants,
  ]
) {
  cudaTest(
    `${wheres[at].kernel} on CUDA without ${name} is caught: ${at}`,
    async (device) => {
      using workshop = new MutantWorkshop({ file, from, to }, original);
      // The emulator's word for what went wrong, or an output that is.
      match(
        await found(device, workshop, at),
        /^wrong: |\(719\): unspecified launch failure: \w/,
      );
    },
  );
}
