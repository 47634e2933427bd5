import { ok, strictEqual } from "node:assert/strict";
import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import { extremes } from "../../testdata/extremes.ts";
import { cudaKernels } from "./cuda.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";
import { emulate } from "../../testdata/emulated.ts";

/** Rows that are whole chunks and rows that are not; the last leave room for many stages. */
const SHAPES = [
  { m: 5, n: 96, k: 1024, epilogue: "bias" },
  { m: 64, n: 64, k: 512, epilogue: "relu" },
  { m: 48, n: 48, k: 512, epilogue: "none" },
  { m: 61, n: 75, k: 1030, epilogue: "bias+relu", ldc: 77 },
  { m: 16, n: 16, k: 8192, epilogue: "relu" },
];

/** Every shape in every type and layout, each time another type first. */
const points = [
  ...SHAPES.flatMap((shape, i) => {
    const types = ["bf16", "f16", "f32"];
    return [...types.slice(i % 3), ...types.slice(0, i % 3)].flatMap((type) =>
      ["nn", "nt"].map((layout) => matmul.point({ ...shape, type, layout }))
    );
  }),
  // Columns that tiles of 24 and of 40 fit on the emulated device.
  matmul.point({ m: 5, n: 300, k: 256, type: "bf16", layout: "nt" }),
];
const traits = ({ m, type, layout }: MatmulPoint) => [
  `${type} ${layout}`,
  `M ${m}`,
];

for (
  const name of [
    "decompose-k-tile",
    "decompose-k",
    "decompose-k-pdl",
    "grid-k",
    "exchange-k",
    "cluster-k",
    "cluster-k-swapped",
    "wgmma-k",
    "dot",
  ]
) {
  const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
  cudaTest(
    `${name} is right at configs with every value of each tunable`,
    async (device) => {
      const { info } = device;
      const chosen = extremes(kernel, { points, info, traits });
      ok(chosen.length >= 4, `${chosen.length}`);
      for (const { point, config } of chosen) {
        const found = await emulate(device, {
          ...{ op: matmul, kernel, point, config, seeds: [3] },
        });
        strictEqual(found, "", JSON.stringify([point, config]));
      }
    },
  );
}

cudaTest(
  "exchange-k is right where threads are left over beyond its groups",
  async (device) => {
    const kernel = cudaKernels.find(({ name }) => name === "exchange-k")!;
    const shape = { m: 16, n: 16, k: 384, layout: "nt", epilogue: "relu" };
    const tile = { LOAD: "warps", BM: 16, BN: 16, STAGES: 2, CLUSTER: 1 };
    for (
      const [type, config] of [
        ["bf16", { ...tile, BK: 96, WARPS: 3, KWARPS: 3, PARTS: 2 }],
        ["f32", { ...tile, BK: 128, WARPS: 4, KWARPS: 4, PARTS: 1 }],
      ] as const
    ) {
      const point = matmul.point({ ...shape, type });
      const found = await emulate(device, {
        ...{ op: matmul, kernel, point, config, seeds: [1, 2] },
      });
      strictEqual(found, "", JSON.stringify(config));
    }
  },
);
