import { match, strictEqual } from "node:assert/strict";
import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import type { Device } from "../../../bench/device/device.ts";
import { cudaKernels } from "./cuda.ts";
import { matmul } from "../op.ts";
import { dotMutants } from "../testdata/cuda_dot_mutants.ts";
import { type Where, wheres } from "../testdata/cuda_mutants.ts";
import { ringMutants } from "../testdata/cuda_ring_mutants.ts";
import { sumMutants } from "../testdata/cuda_sum_mutants.ts";
import { tensorMutants } from "../testdata/cuda_tensor_mutants.ts";
import { wgmmaMutants } from "../testdata/cuda_wgmma_mutants.ts";
import { emulate, Workshop } from "../../testdata/emulated.ts";

/** What the emulator finds at `where`, in the order of some seeds. */
async function found(
  device: Device,
  workshop: Workshop,
  { kernel: name, shape, config }: Where,
): Promise<string> {
  const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
  const point = matmul.point({ type: "bf16", ...shape });
  const seeds = [1, 2];
  return await emulate(device, workshop, {
    ...{ op: matmul, kernel, point, config, seeds },
  });
}

cudaTest(
  "CUDA kernels as they are pass where mutants are caught",
  async (device) => {
    using workshop = new Workshop(undefined, "cuda");
    for (const [name, where] of Object.entries(wheres)) {
      strictEqual(await found(device, workshop, where), "", name);
    }
  },
);

const mutants = [
  ...ringMutants,
  ...sumMutants,
  ...dotMutants,
  ...wgmmaMutants,
  ...tensorMutants,
];

for (const [name, where, file, from, to] of mutants) {
  const at = wheres[where];
  cudaTest(`${at.kernel} without ${name} is caught`, async (device) => {
    using workshop = new Workshop({ file, from, to }, "cuda");
    // The emulator's word for what went wrong, or an output that is.
    match(
      await found(device, workshop, at),
      /^wrong: |\(719\): unspecified launch failure: \w/,
    );
  });
}
