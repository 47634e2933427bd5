import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { cudaTest } from "../../backends/testdata/cuda_mocks.ts";
import type { Device } from "../../bench/device/device.ts";
import { blockedPlace } from "../../bench/formats/blocked_scales.ts";
import { formatValues, type Values } from "../../bench/model/grid.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import {
  distinctBuilds,
  ptxOf,
  skipped,
  textOf,
  withoutNvcc,
} from "../testdata/cuda_builds.ts";
import { emulate } from "../testdata/emulated.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { groupedMatmul } from "./op.ts";
import { BLOCK, type GroupedPoint } from "./point.ts";
import { cases, CHOSEN } from "./testdata/cases.ts";
import {
  ofStages,
  ofUnits,
  plainBlackwell,
  SHORT_LISTS,
} from "./testdata/cuda_mutants.ts";

/** Configs that differ most, each at a list where it is legal. */
const EXTREMES: readonly {
  kernel: string;
  list: Values;
  config: Values;
  stages?: number;
  arch?: string;
}[] = [
  {
    // Tiles that start within an atom of scales, over two atoms, and rounds of the ring.
    kernel: "blackwell",
    list: { m: "330+72", n: "72+136", k: "1408+320" },
    config: plainBlackwell({ MAXN: 192, TMA: 0 }),
    arch: "sm_100a",
  },
  {
    kernel: "blackwell",
    list: { m: "129+1", n: "136+8", k: "1344+64" },
    config: plainBlackwell({ MAXN: 128, STAGES: 2, EACH: 1 }),
    arch: "sm_100a",
  },
  {
    // M-major, with whole vectors of M and without.
    kernel: "blackwell",
    list: { m: "264+40", n: "136+40", k: "192+1088", layout: "nt-mmajor" },
    config: plainBlackwell({ MAXN: 256, TMA: 2, PAIR: 2 }),
    arch: "sm_100a",
  },
  {
    kernel: "blackwell",
    list: { m: "330+72", n: "520+136", k: "320+1344" },
    config: plainBlackwell({ MAXN: 256, TMA: 2, PAIR: 2, COUNTER: 1 }),
    arch: "sm_100a",
  },
  {
    // Pairs whose second block has no rows, or no tokens.
    kernel: "blackwell",
    list: { m: "330+1", n: "136+264", k: "64+1344" },
    config: plainBlackwell({ MAXN: 192, PAIR: 2 }),
    arch: "sm_100a",
  },
  {
    kernel: "blackwell",
    list: { m: "330+1", n: "136+264", k: "64+1344" },
    config: plainBlackwell({ MAXN: 256, TMA: 2, SHARE: 2 }),
    arch: "sm_100a",
  },
  {
    // M-major, with whole stores of 32 bytes and without.
    kernel: "blackwell",
    list: { m: "144+72", n: "136+8", k: "192+64", layout: "nt-mmajor" },
    config: plainBlackwell({ MAXN: 128, TMA: 2, STORE: 32 }),
    arch: "sm_100a",
  },
  {
    kernel: "cluster",
    list: { m: "65+130", n: "264+72", k: "320+64" },
    config: { BM: 128, BN: 128, STAGES: 3, CLUSTER: 1 },
  },
  {
    kernel: "cluster",
    list: { m: "9+65", n: "72+200", k: "64+576" },
    config: { BM: 64, BN: 64, STAGES: 6, CLUSTER: 4 },
  },
  {
    kernel: "cluster",
    list: { m: "63+1+70", n: "264+8+136", k: "64+192+1088" },
    config: { BM: 64, BN: 128, STAGES: 3, CLUSTER: 2 },
  },
  {
    kernel: "cluster",
    list: { m: "100+7", n: "264+72", k: "64+320" },
    config: { BM: 128, BN: 64, STAGES: 4, CLUSTER: 4 },
  },
  {
    kernel: "best",
    list: { m: "9+65+1", n: "264+72+392", k: "576+64+192" },
    config: {
      MAXN: 64,
      STEP: 16,
      WARPGROUPS: 4,
      PIECES: 1,
    },
  },
  {
    kernel: "best",
    list: { m: "64+7+33", n: "392+72+136", k: "64+576+128" },
    config: {
      MAXN: 64,
      STEP: 8,
      WARPGROUPS: 4,
      PIECES: 1,
    },
    stages: 4,
  },
  {
    kernel: "best",
    list: { m: "129+63", n: "264+136", k: "192+320" },
    config: {
      MAXN: 192,
      STEP: 16,
      WARPGROUPS: 2,
      PIECES: 1,
    },
    stages: 4,
  },
  {
    kernel: "best",
    list: { m: "257+225", n: "520+72", k: "64+384" },
    config: {
      MAXN: 256,
      STEP: 16,
      WARPGROUPS: 2,
      PIECES: 0,
    },
    stages: 2,
  },
  {
    // More problems than one launch decodes tokens of.
    kernel: "best",
    list: { m: Array(34).fill("5+0").join("+"), n: 72, k: 64 },
    config: { MAXN: 64, STEP: 16, WARPGROUPS: 4, PIECES: 0 },
  },
  {
    // One tile, of which three blocks have a piece each.
    kernel: "best",
    list: { m: "33", n: "136", k: "2048" },
    config: {
      MAXN: 64,
      STEP: 16,
      WARPGROUPS: 4,
      PIECES: 1,
    },
  },
  {
    kernel: "best",
    list: { m: "33+40", n: "136+8", k: "2048+64" },
    config: {
      MAXN: 64,
      STEP: 16,
      WARPGROUPS: 4,
      PIECES: 1,
    },
  },
];

const named = (name: string) => cudaKernels.find((k) => k.name === name)!;

/** Fails unless `kernel` takes `config`, and is right with it where there are `stages` at most. */
async function right(
  device: Device,
  kernel: Kernel<GroupedPoint>,
  { point, config = {}, op = groupedMatmul, stages = Infinity, seeds = [1] }: {
    point: GroupedPoint;
    config?: Values;
    op?: Op<GroupedPoint>;
    stages?: number | undefined;
    seeds?: readonly number[];
  },
): Promise<void> {
  const text = formatValues(config);
  const candidate = [...kernel.candidates(point, device.info)]
    .find((c) => formatValues(c.config) === text);
  assert(candidate, `no config ${text}`);
  assertStrictEquals(candidate.illegal, undefined);
  const found = await emulate(device, {
    op,
    kernel: ofStages(kernel, stages),
    point,
    config,
    seeds,
    fill: "uniform",
  });
  assertStrictEquals(found, "", `${groupedMatmul.key(point).params} ${text}`);
}

for (const name of ["per-group", "persistent", "cluster"]) {
  cudaTest(
    `${name} is right at short lists on the emulator`,
    async (device) => {
      for (const point of SHORT_LISTS) {
        const [first] = named(name).candidates(point, device.info);
        await right(ofUnits(device, 2), named(name), {
          point,
          config: first!.config,
        });
      }
    },
  );
}

for (const [i, { kernel, list, config, stages, arch }] of EXTREMES.entries()) {
  cudaTest(
    `${kernel} is right on the emulator, ${formatValues(config)}`,
    async (device) => {
      const layout = i % 2 ? "nt" : "nt-mmajor";
      const point = groupedMatmul.point({ layout, ...list });
      // Few units, so that blocks take several tiles.
      await right(ofUnits(device, 4), named(kernel), {
        point,
        config,
        stages,
        seeds: [i],
      });
    },
    arch,
  );
}

/** E4M3: 1/8, and the codes that are NaN. */
const [EIGHTH, NANS] = [0x20, [0x7f, 0xff]];

/** Every scale in a row of its own, of A in one problem and of B in the other. */
const SCALES = groupedMatmul.point({ m: "256+8", n: "8+256", k: 64 });

function withScales(codeOf: (row: number) => number): Op<GroupedPoint> {
  return {
    ...groupedMatmul,
    inputs: (point, options) =>
      groupedMatmul.inputs(point, options).map((bytes, i) => {
        if (i % 2 === 0) return bytes;
        const all = bytes.length === 1024;
        return bytes.map((_, at) =>
          all
            ? codeOf(blockedPlace(at, SCALES.problems[0]!.k / BLOCK).row)
            : EIGHTH
        );
      }),
    tolerance: () => ({ rtol: 2 ** -11, atol: 2 ** -25 }),
  };
}

const DECODING: readonly [string, Values][] = [
  ["per-group", {}],
  ["cluster", { BM: 64, BN: 64, STAGES: 3, CLUSTER: 1 }],
  [
    "best",
    {
      MAXN: 64,
      STEP: 16,
      WARPGROUPS: 4,
      PIECES: 1,
    },
  ],
];

for (const [name, config] of DECODING) {
  cudaTest(
    `${name} multiplies by every scale, to the last bit of a result`,
    async (device) => {
      const op = withScales((row) => NANS.includes(row) ? 0 : row);
      await right(device, named(name), {
        op,
        point: SCALES,
        config,
        seeds: [1],
      });
    },
  );
}

cudaTest(
  "a scale that is NaN makes its row NaN, and no other",
  async (device) => {
    const found = await emulate(device, {
      op: withScales((row) => row),
      kernel: named("persistent"),
      point: SCALES,
      config: {},
      seeds: [1],
    });
    // NaN is never right, but here it is where it should be, and all else is.
    assertMatch(
      found,
      /^wrong: C0: 16 of 2048 elements mismatch .* relative L2 [\de.-]+$/,
    );
  },
);

// C++17 says in which order a call's object and its operands are evaluated, and g++, which
// compiles for the emulator, does so; nvcc 13.0 does not.
Deno.test({
  name: `best reads scales only after it has waited for their stage${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    const chosen = distinctBuilds(cudaKernels, cases.built!).filter((b) =>
      b.source.pathname.endsWith("/best.cu") && CHOSEN.includes(textOf(b))
    );
    const [wait, read] = ["mbarrier.try_wait", "ld.shared.u16"];
    for (const build of [chosen[0]!, chosen.at(-1)!]) {
      const ptx = await ptxOf(build);
      const steps = ptx.match(
        /mbarrier\.try_wait|ld\.shared\.u16|wgmma\.(commit|wait)_group/g,
      ) ?? [];
      const before = ["", ...steps].filter((step, i) =>
        step !== read && steps[i] === read
      );
      // The first slab and all others, for each size of a tile.
      assert(before.length >= 2, textOf(build));
      assertEquals([...new Set(before)], [wait], textOf(build));
    }
  },
});
