import { strictEqual } from "node:assert/strict";
import { hipTest } from "../../../../backends/testdata/hip_mocks.ts";
import type { DeviceInfo } from "../../../../bench/device/device.ts";
import { matmul } from "../../op.ts";
import { emulate } from "../../../testdata/emulated.ts";
import { splitkAtomic, splitkPartials } from "./splitk.ts";
import { type SplitkConfig, splitkRules } from "./config.ts";

const gfx942 = { arch: "gfx942", sharedBytes: 65536, units: 304 } as DeviceInfo;

const base: SplitkConfig = {
  ...{ TM: 16, TN: 64, TK: 64, STAGES: 4, SPLIT: 2 },
  ...{ WAVES_M: 1, WAVES_N: 2, WAVES_K: 1, ASYNC: 1, B_TO_LDS: 1 },
};

/** What differs most: the ring and what goes through it, the waves, the tile. */
const CONFIGS: readonly SplitkConfig[] = [
  base,
  { ...base, STAGES: 2, SPLIT: 3, WAVES_N: 1, WAVES_K: 2 },
  { ...base, STAGES: 2, ASYNC: 0 },
  {
    ...base,
    STAGES: 2,
    ASYNC: 0,
    B_TO_LDS: 0,
    WAVES_N: 1,
    WAVES_K: 2,
    SPLIT: 1,
    TK: 128,
  },
  { ...base, TM: 32, TN: 128, STAGES: 3, SPLIT: 4, WAVES_M: 2, WAVES_N: 2 },
];

const POINT = { m: 21, n: 128, k: 768, layout: "nt", type: "bf16" };
const LEGAL = splitkRules("partials");

for (const type of ["bf16", "f16"]) {
  hipTest(
    `splitk-lds is right and leaves its counters at zero, ${type}`,
    async (device) => {
      for (const config of CONFIGS) {
        const point = matmul.point({
          ...POINT,
          type,
          epilogue: "bias+relu",
          lda: 776,
        });
        for (const [name, rule] of Object.entries(LEGAL)) {
          strictEqual(rule(point, config, gfx942), undefined, name);
        }
        const found = await emulate(device, {
          ...{ op: matmul, kernel: splitkPartials, point, config },
          seeds: [1, 2, 3],
        });
        strictEqual(found, "", JSON.stringify(config));
      }
    },
  );

  hipTest(
    `splitk-lds-atomic adds what fits its type exactly, ${type}`,
    async (device) => {
      for (const { SPLIT, ...rest } of CONFIGS) {
        // bf16 counts to 256: fewer splits keep sums below it.
        const config = {
          ...rest,
          SPLIT: type === "bf16" ? Math.min(2, SPLIT) : SPLIT,
        } as SplitkConfig;
        for (const epilogue of ["none", "bias"]) {
          const point = matmul.point({
            ...POINT,
            type,
            k: config.STAGES * config.TK * config.SPLIT,
            epilogue,
          });
          const found = await emulate(device, {
            ...{ op: matmul, kernel: splitkAtomic, point, config },
            // Small whole numbers: nothing is rounded, so nothing is forgiven.
            fill: "integers",
            seeds: [1, 2, 3],
          });
          strictEqual(found, "", JSON.stringify([epilogue, config]));
        }
      }
    },
  );
}

for (const type of ["bf16", "f16"]) {
  hipTest(
    `splitk-lds-atomic is right within a tolerance of its own, ${type}`,
    async (device) => {
      const found = await emulate(device, {
        ...{ op: matmul, kernel: splitkAtomic, seeds: [1, 2, 3] },
        point: matmul.point({ ...POINT, type, epilogue: "bias" }),
        config: { ...base, STAGES: 2, SPLIT: 6 },
      });
      strictEqual(found, "");
    },
  );
}
