import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import {
  type ClusterConfig,
  kWarps,
  rules,
  sharedBytes,
  sliceOf,
} from "./cluster_configs.ts";
import { matmul } from "./op.ts";
import { h200 } from "../testdata/h200.ts";

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
const says = (
  rule: keyof typeof rules,
  more: Partial<ClusterConfig>,
  at = point,
) => rules[rule]!(at, { ...config, ...more } as ClusterConfig, h200);

Deno.test("rules pass what ran, and name what is wrong with a config", () => {
  for (const [name, rule] of Object.entries(rules)) {
    strictEqual(rule(point, config, h200), undefined, name);
  }
  match(says("tile", { BM: 32 })!, /half of BM=32 would be padding/);
  match(
    says("types", { LOAD: "direct" }, { ...point, type: "f32" })!,
    /16-bit/,
  );
  match(
    says("registers", { LOAD: "direct", BM: 64, BN: 64, STAGES: 4 })!,
    /about 424 registers of a lane, 4 warps leave 255/,
  );
  match(says("warps", { WARPS: 8, KWARPS: 3 })!, /KWARPS=3 does not divide/);
  match(says("warps", { BK: 32 })!, /BK=32 has no steps of 16 for each of 4/);
  match(says("slices", { PARTS: 100 })!, /leave some without any of K=8192/);
  match(says("stages", { STAGES: 3 })!, /3 stages for 2 steps of BK=256/);
  match(says("stages", { STAGES: 1 })!, /one stage for 2 steps/);
  match(says("stages", { BK: 1024, STAGES: 1 })!, /half of BK=1024/);
  match(
    says("meeting", { BK: 128, WARPS: 16, KWARPS: 8, STAGES: 1 })!,
    /the sums of 16 warps do not fit/,
  );
  match(says("shared", { BK: 1024, STAGES: 4 })!, /a block may have 232448/);
});

Deno.test("kWarps() is Cut of cut.cuh", () => {
  const of = (BM: number, BN: number, WARPS: number, KWARPS = 1) =>
    kWarps({ ...config, BM, BN, WARPS, KWARPS } as ClusterConfig);
  deepStrictEqual(
    [of(16, 16, 4), of(16, 32, 4), of(32, 32, 4), of(32, 32, 8), of(64, 64, 8)],
    [4, 2, 1, 2, 1],
  );
  deepStrictEqual([of(32, 32, 8, 8), of(64, 64, 8, 2)], [8, 2]);
});

Deno.test("sliceOf() cuts K into whole k16 steps that cover it", () => {
  strictEqual(sliceOf(point, config), 512);
  const odd = { ...config, CLUSTER: 1, PARTS: 14 } as ClusterConfig;
  // 8192 / 14 = 585.1
  strictEqual(sliceOf(point, odd), 592);
  strictEqual(sliceOf({ k: 7 }, { ...odd, PARTS: 1 }), 16);
});

Deno.test("sharedBytes() has room for the ring, the mailboxes and what meets", () => {
  // 2 * 32 * 256 * 2, 16 * 16 * 4, 16 and 16 of each of 128 threads.
  strictEqual(sharedBytes(point, config), 32768 + 1024 + 16 + 2048);
  const direct = { ...config, LOAD: "direct", WARPS: 8, KWARPS: 8 } as const;
  // The sums of eight warps in place of the ring.
  strictEqual(sharedBytes(point, direct), 8192 + 1024 + 16 + 4096);
});
