import { strictEqual } from "node:assert/strict";
import { metalTest } from "../../../backends/testdata/metal_mocks.ts";
import type { Device } from "../../../bench/device/device.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { emulate } from "../../testdata/emulated.ts";
import { metalKernels } from "./metal.ts";
import { qmm } from "../op.ts";
import { readPoint } from "../point.ts";

const run = (
  device: Device,
  at: {
    readonly kernel: string;
    readonly config: Values;
    readonly point: Values;
  },
) =>
  emulate(device, {
    op: qmm,
    kernel: metalKernels.find(({ name }) => name === at.kernel)!,
    point: readPoint(at.point),
    config: at.config,
    seeds: [1, 2, 3],
  });

metalTest(
  "qmm-splitk on Metal is right with every tile and slices of any length",
  async (device) => {
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
      strictEqual(await run(device, at), "", JSON.stringify(config));
    }
  },
);

metalTest("qvm_split_k on Metal is right in 32 slices", async (device) => {
  const point = { m: 1, n: 32, k: 8200, layout: "nn", bits: 2, group: 32 };
  const at = { kernel: "qvm_split_k", config: { SPLIT: 32 }, point };
  strictEqual(await run(device, at), "");
});

metalTest("qmm-splitk on Metal multiplies by W as it lies", async (device) => {
  const config = { BM: 16, BN: 64, BK: 32, SM: 1, SN: 4, SPLIT: 3 };
  const point = { m: 9, n: 96, k: 200, layout: "nn", bits: 6, group: 32 };
  const at = { kernel: "qmm-splitk", config, point };
  strictEqual(await run(device, at), "");
});
