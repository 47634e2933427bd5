import { match, strictEqual } from "node:assert/strict";
import { metalTest } from "../../../backends/testdata/metal_mocks.ts";
import { emulate, Workshop } from "../../testdata/emulated.ts";
import { metalKernels } from "./metal.ts";
import { qmm } from "../op.ts";
import { readPoint } from "../point.ts";
import {
  type Place,
  tiledMutants,
  tiledPlaces,
} from "../testdata/metal_tiled_mutants.ts";
import {
  vectorMutants,
  vectorPlaces,
} from "../testdata/metal_vector_mutants.ts";

const kernel = (name: string) => metalKernels.find((k) => k.name === name)!;
const SEEDS = [1, 2, 3];

const run = (
  device: Parameters<Parameters<typeof metalTest>[1]>[0],
  at: Place,
  workshop: Workshop,
) =>
  emulate(device, workshop, {
    op: qmm,
    kernel: kernel(at.kernel),
    point: readPoint(at.point),
    config: at.config,
    seeds: SEEDS,
  });

for (const at of [...tiledPlaces, ...vectorPlaces]) {
  metalTest(
    `${at.kernel} on Metal as it is passes where its mutants are caught, ${
      at.point.mode ?? "affine"
    }`,
    async (device) => {
      using workshop = new Workshop(undefined, "metal");
      strictEqual(await run(device, at, workshop), "");
    },
  );
}

for (const { name, at, ...change } of [...tiledMutants, ...vectorMutants]) {
  metalTest(
    `${at.kernel} on Metal without ${name} is caught`,
    async (device) => {
      using workshop = new Workshop(change, "metal");
      match(
        await run(device, at, workshop),
        /race|wrong|nobody wrote|no memory|nothing orders/,
      );
    },
  );
}

metalTest(
  "qmm-splitk on Metal is right with every tile and slices of any length",
  async (device) => {
    using workshop = new Workshop(undefined, "metal");
    const tiles = [
      { BM: 8, BN: 64, BK: 32, SM: 1, SN: 4, SPLIT: 2 },
      { BM: 16, BN: 32, BK: 64, SM: 1, SN: 4, SPLIT: 3 },
      { BM: 16, BN: 32, BK: 32, SM: 2, SN: 2, SPLIT: 5 },
      { BM: 32, BN: 64, BK: 32, SM: 2, SN: 2, SPLIT: 2 },
      { BM: 64, BN: 64, BK: 32, SM: 2, SN: 2, SPLIT: 1 },
    ];
    for (const config of tiles) {
      const point = { m: 19, n: 45, k: 352, bits: 4, group: 32, type: "bf16" };
      const at = { kernel: "qmm-splitk", config, point };
      strictEqual(await run(device, at, workshop), "", JSON.stringify(config));
    }
  },
);

metalTest("qvm_split_k on Metal is right in 32 slices", async (device) => {
  using workshop = new Workshop(undefined, "metal");
  const point = { m: 1, n: 32, k: 8200, transposed: 0, bits: 2, group: 32 };
  const at = { kernel: "qvm_split_k", config: { SPLIT: 32 }, point };
  strictEqual(await run(device, at, workshop), "");
});

metalTest("qmm-splitk on Metal multiplies by W as it lies", async (device) => {
  using workshop = new Workshop(undefined, "metal");
  const config = { BM: 16, BN: 64, BK: 32, SM: 1, SN: 4, SPLIT: 3 };
  const point = { m: 9, n: 96, k: 200, transposed: 0, bits: 6, group: 32 };
  const at = { kernel: "qmm-splitk", config, point };
  strictEqual(await run(device, at, workshop), "");
});
