import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { cudaTest } from "../../backends/testdata/cuda_mocks.ts";
import { hipTest } from "../../backends/testdata/hip_mocks.ts";
import { metalTest } from "../../backends/testdata/metal_mocks.ts";
import { cxxTest } from "../../backends/testdata/mocks.ts";
import { emulatedCheck } from "../testdata/check.ts";
import { mi300x, mi355x } from "../testdata/devices.ts";
import { emulate, extremes } from "../testdata/emulated.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import {
  hipKernels,
  hipRules,
  type HipTile,
  hipTiles,
  ldsBytes,
} from "./hip/hip.ts";
import { type SplitkConfig, splitkRules } from "./hip/splitk/config.ts";
import { splitkAtomic, splitkPartials } from "./hip/splitk/splitk.ts";
import { metalKernels, metalTiles } from "./metal/metal.ts";
import { matmul } from "./op.ts";
import type { MatmulPoint } from "./point.ts";
import { SMALL_SPLITK } from "./testdata/hip_mutants.ts";

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
  // More rows of A than a product has.
  ...[{ type: "bf16", layout: "nt" }, { type: "f16", layout: "nn" }].map((of) =>
    matmul.point({ m: 70, n: 136, k: 328, epilogue: "bias", ...of })
  ),
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
    "exchange-k",
    "cluster-k",
    "wgmma-k",
    "columns-k",
    "dot",
  ]
) {
  const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
  cudaTest(
    `${name} is right at configs with every value of each tunable`,
    async (device) => {
      const { info } = device;
      const chosen = extremes(kernel, { points, info, traits });
      assert(chosen.length >= 4, `${chosen.length}`);
      for (const { point, config } of chosen) {
        const found = await emulate(device, {
          op: matmul,
          kernel,
          point,
          config,
          seeds: [3],
        });
        assertStrictEquals(found, "", JSON.stringify([point, config]));
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
        op: matmul,
        kernel,
        point,
        config,
        seeds: [1, 2],
      });
      assertStrictEquals(found, "", JSON.stringify(config));
    }
  },
);

const hipDecomposeK = hipKernels.find(({ name }) => name === "decompose-k")!;
const RAGGED = { m: 30, n: 44, k: 600, epilogue: "bias+relu" };
const WHOLE = { m: 32, n: 48, k: 768, epilogue: "relu" };

/** Types in both layouts; those of 16 bits, which are read alike, in one each. */
const TYPES = [
  ["bf16", "nn"],
  ["f16", "nt"],
  ["f32", "nn"],
  ["f32", "nt"],
] as const;

/** Tiles that differ most: one wave, waves that split K, the most waves, the widest. */
const HIP_TILES: readonly HipTile[] = [0, 3, 5, 8, 16, 21].map((i) =>
  hipTiles[i]!
);

for (const [type, layout] of TYPES) {
  hipTest(
    `decompose-k is right with the extreme tiles, ${type} ${layout}`,
    async (device) => {
      let ran = 0;
      for (const tile of HIP_TILES) {
        for (const shape of [RAGGED, WHOLE]) {
          const point = matmul.point({ ...shape, type, layout });
          const config = { ...tile, SPLIT: 3 };
          if (ldsBytes(tile, point.type) > 65536) continue;
          if (hipRules.waves(point, config)) continue;
          const found = await emulate(device, {
            op: matmul,
            kernel: hipDecomposeK,
            point,
            config,
          });
          assertStrictEquals(found, "", JSON.stringify([shape, config]));
          ran++;
        }
      }
      assert(ran >= 6, `${ran}`);
    },
  );
}

/** What differs most: the ring and what goes through it, the waves, the tile. */
const CONFIGS: readonly SplitkConfig[] = [
  SMALL_SPLITK,
  { ...SMALL_SPLITK, STAGES: 2, SPLIT: 3, WAVES_N: 1, WAVES_K: 2 },
  { ...SMALL_SPLITK, STAGES: 2, ASYNC: 0 },
  {
    ...SMALL_SPLITK,
    STAGES: 2,
    ASYNC: 0,
    B_TO_LDS: 0,
    WAVES_N: 1,
    WAVES_K: 2,
    SPLIT: 1,
    TK: 128,
  },
  {
    ...SMALL_SPLITK,
    TM: 32,
    TN: 128,
    STAGES: 3,
    SPLIT: 4,
    WAVES_M: 2,
    WAVES_N: 2,
  },
];

const POINT = { m: 21, n: 128, k: 768, layout: "nt", type: "bf16" };
const LEGAL = splitkRules("partials");

/** Rings of 160 and of 144 KiB. */
const LARGE: readonly SplitkConfig[] = [
  { ...SMALL_SPLITK, TK: 128, STAGES: 8 },
  { ...SMALL_SPLITK, TN: 128, TK: 256, STAGES: 2, WAVES_N: 1, WAVES_K: 2 },
];

const SPLITK = [
  ...["bf16", "f16"].map((type) => ({ type, info: mi300x, configs: CONFIGS })),
  ...["bf16", "f16"].map((type) => ({
    type,
    info: mi355x,
    configs: [...LARGE, ...CONFIGS],
  })),
];

for (const { type, info, configs } of SPLITK) {
  hipTest(
    `splitk-lds is right and leaves its counters at zero, ${type} on ${info.arch}`,
    async (device) => {
      assertStrictEquals(device.info.arch, info.arch);
      assertStrictEquals(device.info.sharedBytes, info.sharedBytes);
      for (const config of configs) {
        const { STAGES, TK, SPLIT } = config;
        const k = Math.max(POINT.k, STAGES * TK * SPLIT);
        const point = matmul.point({
          ...POINT,
          type,
          k,
          epilogue: "bias+relu",
          lda: k + 8,
        });
        for (const [name, rule] of Object.entries(LEGAL)) {
          assertStrictEquals(rule(point, config, info), undefined, name);
        }
        const found = await emulate(device, {
          op: matmul,
          kernel: splitkPartials,
          point,
          config,
          seeds: [1, 2, 3],
        });
        assertStrictEquals(found, "", JSON.stringify(config));
      }
    },
    info.arch,
  );

  hipTest(
    `splitk-lds-atomic adds what fits its type exactly, ${type} on ${info.arch}`,
    async (device) => {
      for (const { SPLIT, ...rest } of configs) {
        // bf16 counts to 256: fewer splits and a shorter K keep sums below it.
        if (type === "bf16" && rest.STAGES * rest.TK > 384) continue;
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
            op: matmul,
            kernel: splitkAtomic,
            point,
            config,
            // Small whole numbers: nothing is rounded, so nothing is forgiven.
            fill: "integers",
            seeds: [1, 2, 3],
          });
          assertStrictEquals(found, "", JSON.stringify([epilogue, config]));
        }
      }
    },
    info.arch,
  );
}

for (const type of ["bf16", "f16"]) {
  hipTest(
    `splitk-lds-atomic is right within a tolerance of its own, ${type}`,
    async (device) => {
      const found = await emulate(device, {
        op: matmul,
        kernel: splitkAtomic,
        seeds: [1, 2, 3],
        point: matmul.point({ ...POINT, type, epilogue: "bias" }),
        config: { ...SMALL_SPLITK, STAGES: 2, SPLIT: 6 },
      });
      assertStrictEquals(found, "");
    },
  );
}

const metalDecomposeK = metalKernels.find(({ name }) =>
  name === "decompose-k"
)!;

/** Slices of 52 and of 96: no multiple of any step but the least, and of most. */
const SHORT = [{ ...RAGGED, k: 156 }, { ...WHOLE, k: 288 }] as const;

/** Tiles that differ most: the fewest lanes, eight rows, one simdgroup along M, the widest. */
const METAL_TILES: typeof metalTiles = [1, 3, 6, 10, 14].map((i) =>
  metalTiles[i]!
);

for (const [type, layout] of TYPES) {
  metalTest(
    `decompose-k on Metal is right with the extreme tiles, ${type} ${layout}`,
    async (device) => {
      let ran = 0;
      for (const [i, tile] of METAL_TILES.entries()) {
        const point = matmul.point({ ...SHORT[i % 2], type, layout });
        const config = { ...tile, SPLIT: 3 };
        const found = await emulate(device, {
          op: matmul,
          kernel: metalDecomposeK,
          point,
          config,
        });
        assertStrictEquals(found, "", JSON.stringify(config));
        ran++;
      }
      assert(ran === METAL_TILES.length);
    },
  );
}

cxxTest(
  "check --backend hip passes for the split-K kernels of the decode suites on the emulator",
  async () => {
    const rows = await emulatedCheck({
      folder: "matmul",
      backend: "hip",
      args: [
        ...["--suite", "decode-bf16-k7168"],
        ...["--kernel", "splitk-lds,splitk-lds-atomic"],
        // The edge-case shape that these kernels take, and the smallest of the suite.
        ...["--m", "4,17", "--n", "64,256", "--k", "256,7168"],
      ],
    });
    const of = (kernel: string) => rows.filter((row) => row.kernel === kernel);
    assertEquals(
      ["splitk-lds", "splitk-lds-atomic"].map((name) => of(name).length),
      [8, 8],
    );
    assertEquals([...new Set(rows.map(({ status }) => status))], ["checked"]);
    assert(of("splitk-lds").every((row) => row.deterministic && !row.note));
    const atomic = of("splitk-lds-atomic");
    for (const { note } of atomic) {
      assertMatch(note, /^right to within [\d.]+ \+ /);
    }
    // 16-bit sums of seven splits depend on who comes first.
    assert(atomic.some((row) => row.k === 7168 && !row.deterministic));
  },
);
