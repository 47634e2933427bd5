import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { h200 } from "../../../testdata/devices.ts";
import { matmul } from "../../op.ts";
import {
  type ClusterConfig,
  columnsOf,
  lanesOf,
  sharedBytes,
  sliceOf,
  warpTilingOf,
} from "./configs.ts";
import { predict, resident, rules } from "./rules.ts";
import { predictWgmma } from "./wgmma_configs.ts";

const point = matmul.point({ m: 16, n: 16, k: 8192, epilogue: "relu" });
const config: ClusterConfig = {
  LOAD: "ring",
  BM: 16,
  BN: 16,
  BK: 256,
  WARPS: 4,
  KWARPS: 1,
  STAGES: 2,
  CLUSTER: 16,
  PARTS: 1,
};
Deno.test("warpTilingOf() is WarpTiling of warps.cuh", () => {
  const wide = { n: 4096, type: "bf16" } as const;
  const of = (BM: number, BN: number, WARPS: number, KWARPS = 1) =>
    warpTilingOf(wide, { ...config, BM, BN, WARPS, KWARPS } as ClusterConfig).k;
  assertEquals(
    [of(16, 16, 4), of(16, 32, 4), of(32, 32, 4), of(32, 32, 8), of(64, 64, 8)],
    [4, 2, 1, 2, 1],
  );
  assertEquals([of(32, 32, 8, 8), of(64, 64, 8, 2)], [8, 2]);
  // Columns are halved by eights.
  assertEquals([of(16, 8, 4), of(16, 40, 4), of(32, 48, 8)], [4, 4, 2]);
  const wgmma = { ...config, LOAD: "tensor", BM: 64, BN: 40 } as const;
  assertEquals(warpTilingOf(wide, wgmma), { m: 16, n: 40, k: 1 });
  // 48 rows are no two times sixteens, and of 48 columns only fp32 does not take 24.
  const narrow = { ...config, BM: 48, BN: 64, WARPS: 8 } as const;
  const of48 = (type: "bf16" | "f32") => warpTilingOf({ n: 48, type }, narrow);
  assertEquals(of48("bf16"), { m: 48, n: 24, k: 4 });
  assertEquals(of48("f32"), { m: 48, n: 48, k: 8 });
});

Deno.test("columnsOf() leaves out those that a small output lacks", () => {
  const of = (n: number, LOAD: ClusterConfig["LOAD"] = "ring") =>
    columnsOf({ n }, { LOAD, BN: 64 });
  assertEquals([of(48), of(33), of(64), of(4096)], [48, 48, 64, 64]);
  assertEquals([of(48, "warps"), of(48, "tensor")], [48, 64]);
});

Deno.test("lanesOf() is Lanes of tiled_ffma.cuh", () => {
  const of = (BM: number, BN: number, BK: number, KWARPS = 8) => {
    const { rows, columns, groups } = lanesOf(
      { n: 4096, type: "f32" },
      { ...config, BM, BN, BK, WARPS: 8, KWARPS } as ClusterConfig,
    );
    return [rows, columns, groups].join(" ");
  };
  assertStrictEquals(of(16, 16, 256), "8 8 8");
  // Eight warps leave a step of 128 four times four k each, and one of 64 two times.
  assertStrictEquals(of(16, 16, 128), "8 4 4");
  assertStrictEquals(of(16, 16, 64), "4 4 2");
  assertEquals(
    [of(16, 32, 128), of(32, 32, 128), of(64, 64, 128, 1), of(64, 64, 128)],
    ["8 8 4", "8 8 2", "8 8 4", "8 16 1"],
  );
});

Deno.test("sliceOf() cuts K into whole K steps, or whole k16 steps, that cover it", () => {
  assertStrictEquals(sliceOf(point, config), 512);
  // 32 steps of 256 for 11 blocks: three each, and two for the last.
  assertStrictEquals(sliceOf(point, { ...config, CLUSTER: 1, PARTS: 11 }), 768);
  const odd = { ...config, CLUSTER: 1, PARTS: 14 } as ClusterConfig;
  // 8192 / 14 = 585.1
  assertStrictEquals(sliceOf(point, odd), 592);
  assertStrictEquals(sliceOf({ k: 7 }, { ...odd, PARTS: 1 }), 16);
  // Tensor maps copy whole steps.
  assertStrictEquals(sliceOf({ k: 600 }, { ...config, LOAD: "tensor" }), 256);
});

Deno.test("sharedBytes() has room for the ring and for the sums of warps and blocks", () => {
  // 2 * 32 * 256 * 2, 16 * 16 * 4 and 16; 16 of each of 128 threads, where parts are exchanged.
  assertStrictEquals(sharedBytes(point, config), 32768 + 1024 + 16);
  const parts = { ...config, CLUSTER: 1, PARTS: 16 };
  assertStrictEquals(sharedBytes(point, parts), 32768 + 1024 + 16 + 2048);
  // Each of 256 threads has ten slots, of which three blocks send at most four.
  const slots = { LOAD: "tensor", BM: 128, BN: 80, BK: 64, WARPS: 8 } as const;
  assertStrictEquals(
    sharedBytes({ ...point, n: 80 }, { ...config, ...slots, CLUSTER: 3 }),
    2 * (208 * 128 + 16) + 2 * 4 * 256 * 16 + 16,
  );
  // Without slices nothing meets.
  assertStrictEquals(sharedBytes(point, { ...config, CLUSTER: 1 }), 32768);
});

Deno.test("resident counts the blocks that are on the device at once", () => {
  const parts = { ...config, CLUSTER: 1 };
  // 64 KiB of ring: three blocks would fit, four warps of 255 registers allow two.
  assertStrictEquals(
    resident(point, { ...parts, PARTS: 264 }, h200),
    undefined,
  );
  assertMatch(
    resident(point, { ...parts, PARTS: 265 }, h200)!,
    /265 blocks wait for one another, 264 are on the device at once/,
  );
  assertMatch(
    resident(point, { ...parts, PARTS: 265, WARPS: 8 }, h200)!,
    /132 are on the device/,
  );
  assertStrictEquals(
    resident(point, { ...parts, CLUSTER: 2, PARTS: 66 }, h200),
    undefined,
  );
  // Of clusters of four there are 30, and two such blocks on each unit.
  const of4 = { ...parts, CLUSTER: 4 };
  assertStrictEquals(resident(point, { ...of4, PARTS: 60 }, h200), undefined);
  assertMatch(
    resident(point, { ...of4, PARTS: 61 }, h200)!,
    /244 blocks wait for one another, 240 are on the device at once/,
  );
  const { clusters: _, ...unasked } = h200;
  assertMatch(
    resident(point, { ...of4, PARTS: 2 }, unasked)!,
    /not known how many clusters of 4/,
  );
});

Deno.test("predict() prefers what an H200 prefers", () => {
  const at = (k: number, more: Partial<ClusterConfig>) =>
    predict(
      { ...point, k },
      { ...config, ...more } as ClusterConfig,
      h200,
    );
  // 6.3 against 6.5 µs, 8.3 against 7.0 µs.
  const parts = { CLUSTER: 1, PARTS: 32, BK: 512 };
  assert(at(8192, {}) < at(8192, { ...parts, PARTS: 8 }));
  assert(at(32768, { STAGES: 4 }) > at(32768, parts));
  // 17.1 against 14.4 µs: of clusters of 16 the device holds 7, of 4 with such blocks 30.
  const router = matmul.point({ m: 256, n: 256, k: 7168, layout: "nt" });
  const ring = { ...config, BM: 64, BN: 128, BK: 128, STAGES: 4, CLUSTER: 8 };
  const warps = { BM: 32, BN: 64, BK: 256, KWARPS: 4, STAGES: 3, CLUSTER: 4 };
  assert(
    predict(router, ring, h200) <
      predict(router, { ...config, ...warps, LOAD: "warps" }, h200),
  );
  // More than a wave.
  assert(at(8192, parts) < at(8192, { ...parts, PARTS: 512, BK: 16 }));
});

Deno.test("predictWgmma() prefers what an H200 prefers", () => {
  const tile = { ...config, LOAD: "tensor", BM: 64, WARPS: 4 } as const;
  const at = (m: number, n: number, k: number, more: Partial<ClusterConfig>) =>
    predictWgmma(
      matmul.point({ m, n, k, layout: "nt" }),
      { ...tile, ...more } as ClusterConfig,
      h200,
    );
  // 19.0, 21.5 and 20.3 µs: fewer steps in flight, and longer ones.
  const wide = { BM: 128, WARPS: 8, CLUSTER: 2, BN: 80, BK: 64, STAGES: 7 };
  const best = at(128, 5120, 2880, wide);
  assert(best < at(128, 5120, 2880, { ...wide, BN: 128, STAGES: 4 }));
  assert(best < at(128, 5120, 2880, { ...wide, BK: 128, STAGES: 3 }));
  // 17.1 and 21.2 µs: more than a block for each unit.
  const whole = { CLUSTER: 1, BK: 128, STAGES: 8 };
  const narrow = at(32, 5120, 2880, { ...whole, BN: 32 });
  assert(at(32, 5120, 2880, { ...whole, BN: 40 }) < narrow);
  // 16.4 and 17.2 µs, with less to read from the cache.
  const pairs = { ...whole, BN: 40, TILES_M: 1, TILES_N: 2 };
  const alone = at(64, 5120, 2880, { ...whole, BN: 40 });
  assert(alone < at(64, 5120, 2880, pairs));
});

const large = matmul.point({ m: 32, n: 32, k: 8192 });
const says = (
  rule: keyof typeof rules,
  more: Partial<ClusterConfig>,
  at = point,
) => rules[rule]!(at, { ...config, ...more } as ClusterConfig, h200);

Deno.test("rules pass what ran, and name what is wrong with a config", () => {
  for (const [name, rule] of Object.entries(rules)) {
    assertStrictEquals(rule(point, config, h200), undefined, name);
  }
  assertMatch(says("tile", { BM: 32 })!, /half of BM=32 would be padding/);
  assertMatch(
    says("registers", { LOAD: "warps", BM: 64, BN: 128, KWARPS: 4 }, {
      ...point,
      n: 128,
    })!,
    /about 326 registers/,
  );
  const eight = { LOAD: "warps", BM: 8, KWARPS: 4 } as const;
  assertStrictEquals(says("rows", eight), undefined);
  for (
    const wrong of [
      says("rows", { ...eight, LOAD: "ring" }),
      says("rows", { ...eight, BM: 4 }),
      says("rows", eight, { ...point, type: "f32" }),
    ]
  ) assertMatch(wrong!, /: 16 rows are the least, or 8 with LOAD=warps/);
  assertMatch(
    says("warps", { WARPS: 8, KWARPS: 3 })!,
    /KWARPS=3 does not divide/,
  );
  assertMatch(
    says("warps", { BK: 32 })!,
    /BK=32 has no steps of 16 for each of 4/,
  );
  const warps = { LOAD: "warps", KWARPS: 4 } as const;
  assertStrictEquals(says("warps", { ...warps }), undefined);
  assertMatch(
    says("warps", { ...warps, BM: 32, BN: 32, KWARPS: 1 }, large)!,
    /warps the same part of K: they have no rings of their own/,
  );
  assertMatch(
    says("warps", { ...warps, BK: 64 })!,
    /BK=64 has no steps of 32 for each of 4 warps/,
  );
  assertMatch(
    says("slices", { PARTS: 100 })!,
    /leave some without any of K=8192/,
  );
  assertMatch(says("stages", { STAGES: 3 })!, /3 stages for 2 steps of BK=256/);
  assertMatch(says("stages", { STAGES: 1 })!, /one stage for 2 steps/);
  assertMatch(says("stages", { BK: 1024, STAGES: 1 })!, /half of BK=1024/);
  assertMatch(
    says("meeting", { BK: 128, WARPS: 16, KWARPS: 8, STAGES: 1 })!,
    /the sums of 16 warps do not fit/,
  );
  assertMatch(
    says("columns", { BN: 24 })!,
    /BN=24 is no power of two from 16 on/,
  );
  assertStrictEquals(
    says("columns", { BN: 24 }, { ...point, layout: "nt" }),
    undefined,
  );
  assertMatch(
    says("shared", { BK: 1024, STAGES: 4 })!,
    /a block may have 232448/,
  );
});

Deno.test("rules of warpgroups are those of wgmma's products", () => {
  const wide = matmul.point({ m: 20, n: 512, k: 7168, layout: "nt" });
  const warpgroups = (more: Partial<ClusterConfig>) => {
    const tile = { LOAD: "tensor", BM: 64, BN: 40, BK: 128 };
    const whole = { ...config, ...tile, CLUSTER: 8 };
    return Object.entries(rules).flatMap(([name, rule]) =>
      rule(wide, { ...whole, ...more } as ClusterConfig, h200) ? [name] : []
    );
  };
  assertStrictEquals(`${warpgroups({})}`, "");
  assertStrictEquals(`${warpgroups({ BN: 48, WARPS: 8 })}`, "");
  // 20 rows want no second warpgroup of rows, nor half of 40 columns.
  assertStrictEquals(`${warpgroups({ BM: 128, WARPS: 8 })}`, "tile");
  assertStrictEquals(`${warpgroups({ WARPS: 8 })}`, "warpgroups");
  assertStrictEquals(`${warpgroups({ BM: 16 })}`, "warpgroups");
  assertStrictEquals(`${warpgroups({ BK: 32, STAGES: 8 })}`, "warpgroups");
  // Of B by rows warpgroups have boxes of 64 columns, or a half of one.
  const byRows = matmul.point({ m: 20, n: 512, k: 7168, layout: "nn" });
  const says = (BN: number, WARPS: number) => {
    const tile = { LOAD: "tensor", BM: 64, BN, BK: 128, CLUSTER: 8 } as const;
    return rules.warpgroups!(byRows, { ...config, ...tile, WARPS }, h200);
  };
  assertStrictEquals(says(64, 4), undefined);
  assertStrictEquals(says(64, 8), undefined);
  assertStrictEquals(says(192, 4), undefined);
  assertMatch(says(192, 8)!, /^96 of BN=192 columns/);
  assertMatch(says(40, 4)!, /^40 of BN=40 columns/);
});

Deno.test("rules of tensor maps and of clusters of several tiles", () => {
  const wide = matmul.point({ m: 256, n: 256, k: 7168, layout: "nt" });
  const tensor = { LOAD: "tensor", BM: 64, BN: 80, BK: 128 } as const;
  const broken = (more: Partial<ClusterConfig>, info = h200) =>
    Object.entries(rules).flatMap(([name, rule]) => {
      const whole = { ...config, ...tensor, CLUSTER: 8, TILES_M: 2, ...more };
      return rule(wide, whole as ClusterConfig, info) ? [name] : [];
    }).join();
  assertStrictEquals(broken({}), "");
  assertStrictEquals(broken({}, { ...h200, tensorMaps: false }), "maps");
  assertStrictEquals(
    broken({ BM: 320, WARPS: 20 }),
    "tile,shared,cluster",
  );
  // Three tiles along N: tensor maps have zeros for a fourth.
  assertStrictEquals(broken({ TILES_M: 1, TILES_N: 2, BN: 88 }), "");
  // Two blocks ask for 44 rows each, and swizzles are of eight.
  assertStrictEquals(broken({ BN: 88 }), "maps");
  assertStrictEquals(
    broken({ BN: 264, TILES_M: 1, WARPS: 8 }),
    "maps,warpgroups,shared",
  );
  assertStrictEquals(
    broken({ LOAD: "ring", TILES_M: 1, TILES_N: 2 }),
    "cluster",
  );
  assertStrictEquals(broken({ CLUSTER: 2, TILES_M: 1, TILES_N: 8 }), "cluster");
  assertStrictEquals(broken({ CLUSTER: 4, PARTS: 2 }), "cluster");
  assertMatch(
    rules.cluster!(wide, { ...config, ...tensor, TILES_M: 2 }, h200)!,
    /a cluster of 32 blocks, 16 are the most/,
  );
  // Of a part of a device, with fewer units in each group.
  const part = { ...h200, clusters: h200.clusters!.with(15, 0) };
  assertStrictEquals(broken({}, part), "cluster");
  assertStrictEquals(broken({ TILES_M: 1 }, part), "");
  // Nine slices of 7 steps leave the last without any.
  assertStrictEquals(broken({ CLUSTER: 9, TILES_M: 1 }), "slices");
  // A warp of its own copies, and what one stage held would never be free.
  const many = { BM: 128, BN: 64, WARPS: 32, STAGES: 2, TILES_M: 1 };
  assertStrictEquals(broken(many), "warpgroups");
  assertStrictEquals(broken({ STAGES: 1 }), "stages");
});
