import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { BYTES } from "../../../../bench/model/dtype.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import type { ClusterConfig } from "./configs.ts";
import { clusterK, exchangeK, wgmmaK } from "./cluster.ts";
import { matmul } from "../../op.ts";
import type { MatmulPoint } from "../../point.ts";
import { h200 } from "../../../testdata/devices.ts";
import { plan } from "../../testdata/listener.ts";

const sides = [16, 32, 48, 64];
const points = sides.flatMap((m) =>
  [8192, 12288, 28672, 32768].flatMap((k) =>
    (["bf16", "f32"] as const).map((type) =>
      matmul.point({ m, n: m, k, type, epilogue: "relu" })
    )
  )
);
const legal = (kernel: typeof clusterK, point: MatmulPoint) =>
  [...kernel.candidates(point, h200)].filter(({ illegal }) => !illegal)
    .map(({ config }) => config as ClusterConfig);

for (const kernel of [clusterK, exchangeK]) {
  Deno.test(`candidates() of ${kernel.name} are distinct, and some are legal`, () => {
    for (const point of points) {
      const configs = legal(kernel, point);
      assert(
        configs.length >= 4,
        `${configs.length} at M=${point.m} K=${point.k}`,
      );
      assertStrictEquals(
        new Set(configs.map((c) => JSON.stringify(c))).size,
        configs.length,
      );
      assert(configs.every(({ STAGES, PARTS }) => STAGES >= 1 && PARTS >= 1));
    }
  });
}

Deno.test("candidates() of few steps in flight are those of a ring for each warp", () => {
  const point = matmul.point({ m: 64, n: 64, k: 32768, type: "f32" });
  const stages = (LOAD: ClusterConfig["LOAD"]) =>
    new Set(
      legal(exchangeK, point).filter((config) =>
        config.LOAD === LOAD && config.BM === 32 && config.BN === 32 &&
        config.BK === 128 && config.PARTS === 32
      ).map(({ STAGES }) => STAGES),
    );
  assertEquals([...stages("warps")].sort(), [2, 3, 6]);
  assertEquals([...stages("ring")], [6]);
});

Deno.test("unsupported() of an old device", () => {
  const [point] = points as [MatmulPoint];
  assertStrictEquals(
    clusterK.unsupported(point, { ...h200, arch: "sm_89" }),
    "sm_89 has no thread-block clusters: sm_90 has",
  );
  assertStrictEquals(clusterK.unsupported(point, h200), undefined);
});

Deno.test("unsupported() of wgmma-k names what warpgroups need", () => {
  const at = (values: Values, arch = "sm_90a") =>
    wgmmaK.unsupported(
      matmul.point({ m: 64, n: 512, k: 7168, type: "bf16", ...values }),
      { ...h200, arch },
    );
  assertStrictEquals(at({ layout: "nt" }), undefined);
  assertMatch(at({ layout: "nt" }, "sm_100a")!, /^sm_100a has no wgmma/);
  assertStrictEquals(at({ layout: "nn" }), undefined);
  assertMatch(at({ layout: "nn", n: 500 })!, /: N, K, lda and ldb must be/);
  assertMatch(at({ layout: "nt", type: "f32" })!, /no products of IEEE fp32/);
  assertStrictEquals(at({ layout: "nt", n: 500 }), undefined);
  assertMatch(at({ layout: "nt", k: 7164 })!, /: K, lda .* multiples of 8$/);
});

Deno.test("candidates() for few rows have a tile for each unit", () => {
  const columns = (kernel: typeof clusterK, n: number, m = 4) => {
    const point = matmul.point({ m, n, k: 2880, type: "bf16", layout: "nt" });
    return new Set(legal(kernel, point).map(({ BN }) => BN));
  };
  // 132 units: 128 tiles of 40 columns, 128 of 8, 120 of 24.
  assert(columns(clusterK, 5120).has(40));
  assert(columns(clusterK, 1024).has(8));
  assert(columns(clusterK, 2880, 20).has(24));
  assert(columns(exchangeK, 512).has(8));
  assert(!columns(clusterK, 5120, 64).has(40));
});

Deno.test("candidates() by tensor maps have slices of whole steps at every K", () => {
  const of = (n: number, k: number, m = 64) =>
    legal(
      wgmmaK,
      matmul.point({ m, n, k, type: "bf16", layout: "nt" }),
    ).filter(({ LOAD }) => LOAD === "tensor");
  // 56 steps of 128: sixteen blocks would leave the last without any, fourteen have four each, and
  // eight seven each; clusters of two by two tiles have four slices.
  const few = (m: number) => [
    ...new Set(
      of(256, 7168, m).filter(({ BM, BN }) => BM === 64 && BN === 48)
        .map(({ CLUSTER }) => CLUSTER),
    ),
  ];
  assertEquals(few(64), [14]);
  assertEquals(few(128), [8, 4]);
  for (const [n, k] of [[512, 7168], [128, 2880], [256, 512], [8, 4096]]) {
    assert(of(n!, k!).length > 0, `N=${n} K=${k}`);
  }
});

Deno.test("prepare() launches one kernel with a slice for each block", () => {
  const shape = { m: 48, n: 48, k: 8192, epilogue: "relu" };
  const config: ClusterConfig = {
    LOAD: "ring",
    BM: 16,
    BN: 32,
    CLUSTER: 1,
    PARTS: 20,
    BK: 128,
    WARPS: 4,
    KWARPS: 1,
    STAGES: 4,
  };
  const { queue, allocated } = plan("exchange-k", shape, config);
  assertStrictEquals(queue.length, 1);
  assertEquals(queue[0]!.shape!.grid, [20, 2, 3]);
  assertStrictEquals(queue[0]!.shape!.cooperative, true);
  // 20 owners of 20 pieces of 26 elements, in whole units of 4, for each of six tiles.
  assertEquals(allocated, [6 * 20 * 20 * 28 * BYTES.f32]);
});

Deno.test("prepare() counts tiles first where many parts read much", () => {
  const gridOf = (k: number, PARTS: number) =>
    plan("exchange-k", { m: 48, n: 48, k, type: "f32" }, {
      LOAD: "warps",
      BM: 16,
      BN: 16,
      BK: 128,
      WARPS: 8,
      KWARPS: 8,
      STAGES: 3,
      CLUSTER: 1,
      PARTS,
    }).queue[0]!.shape!.grid;
  // Slices of 1280, 768 and 640 for 32 rows of both operands: 160, 96 and 80 KiB.
  assertEquals(gridOf(16384, 13), [3, 3, 13]);
  assertEquals(gridOf(9216, 12), [3, 3, 12]);
  assertEquals(gridOf(8192, 13), [13, 3, 3]);
  assertEquals(gridOf(16384, 8), [8, 3, 3]);
});

Deno.test("prepare() of tensor maps gives boxes of a tile's rows, and a cluster tiles", () => {
  const shape = { m: 250, n: 256, k: 7000, type: "bf16", layout: "nt" };
  const config: ClusterConfig = {
    LOAD: "tensor",
    BM: 64,
    BN: 80,
    BK: 128,
    WARPS: 4,
    KWARPS: 1,
    STAGES: 3,
    CLUSTER: 7,
    PARTS: 1,
    TILES_M: 2,
    TILES_N: 1,
  };
  const { queue: [launch], maps } = plan("wgmma-k", shape, config);
  assertEquals(launch!.shape!.grid, [14, 4, 2]);
  assertStrictEquals(launch!.shape!.cluster, 14);
  // Blocks of a cluster are on the device together without asking.
  assertStrictEquals(launch!.shape!.cooperative, undefined);
  // The fifth warp copies; three stages and their two barriers, shares of 7 blocks of whole fours
  // (a thread has ten slots, too few for whole ones), and their barrier.
  assertEquals(launch!.shape!.block, [160, 1, 1]);
  assertStrictEquals(
    launch!.shape!.sharedBytes,
    3 * ((64 + 80) * 256 + 16) + 7 * 732 * 4 + 16,
  );
  const box = { type: "bf16", columns: 7000, ld: 7000, boxColumns: 64 };
  // The two tiles of a cluster have the same rows of B: each block asks for a half of them.
  assertEquals(maps, [
    { ...box, rows: 250, boxRows: 64 },
    { ...box, rows: 256, boxRows: 40 },
  ]);
  // By rows of B each block asks for a half of a step's K, 64 columns at a time.
  const { maps: [, ofB] } = plan(
    "wgmma-k",
    { ...shape, layout: "nn" },
    { ...config, BN: 64 },
  );
  assertEquals(ofB, { ...box, rows: 7000, columns: 256, ld: 256, boxRows: 64 });
  // Five tiles along M are three clusters of two.
  const { queue: [odd] } = plan("wgmma-k", { ...shape, m: 300 }, config);
  assertEquals(odd!.shape!.grid, [14, 4, 3]);
  // Two maps, bias, C, five sizes, ReLU and whether it starts early; a slice is eight whole steps.
  assertStrictEquals(launch!.args.length, 11);
  assertEquals(launch!.args[7], { kind: "i32", value: 1024 });
});
