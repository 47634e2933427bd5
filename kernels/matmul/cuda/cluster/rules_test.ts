import { match, strictEqual } from "node:assert/strict";
import type { ClusterConfig } from "./configs.ts";
import { rules } from "./rules.ts";
import { matmul } from "../../op.ts";
import { h200 } from "../../../testdata/h200.ts";

const point = matmul.point({ m: 16, n: 16, k: 8192, epilogue: "relu" });
const large = matmul.point({ m: 32, n: 32, k: 8192 });
const config: ClusterConfig = {
  LOAD: "ring",
  ...{ BM: 16, BN: 16, BK: 256, WARPS: 4, KWARPS: 1, STAGES: 2 },
  ...{ CLUSTER: 16, PARTS: 1 },
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
  match(
    says("registers", { LOAD: "warps", BM: 64, BN: 128, KWARPS: 4 }, {
      ...point,
      n: 128,
    })!,
    /about 326 registers/,
  );
  match(says("warps", { WARPS: 8, KWARPS: 3 })!, /KWARPS=3 does not divide/);
  match(says("warps", { BK: 32 })!, /BK=32 has no steps of 16 for each of 4/);
  const warps = { LOAD: "warps", KWARPS: 4 } as const;
  strictEqual(says("warps", { ...warps }), undefined);
  match(
    says("warps", { ...warps, BM: 32, BN: 32, KWARPS: 1 }, large)!,
    /warps the same part of K: they have no rings of their own/,
  );
  match(
    says("warps", { ...warps, BK: 64 })!,
    /BK=64 has no steps of 32 for each of 4 warps/,
  );
  match(says("slices", { PARTS: 100 })!, /leave some without any of K=8192/);
  match(says("stages", { STAGES: 3 })!, /3 stages for 2 steps of BK=256/);
  match(says("stages", { STAGES: 1 })!, /one stage for 2 steps/);
  match(says("stages", { BK: 1024, STAGES: 1 })!, /half of BK=1024/);
  match(
    says("meeting", { BK: 128, WARPS: 16, KWARPS: 8, STAGES: 1 })!,
    /the sums of 16 warps do not fit/,
  );
  match(says("columns", { BN: 24 })!, /BN=24 is no power of two from 16 on/);
  strictEqual(
    says("columns", { BN: 24 }, { ...point, layout: "nt" }),
    undefined,
  );
  match(says("shared", { BK: 1024, STAGES: 4 })!, /a block may have 232448/);
});

Deno.test("rules of warpgroups are those of wgmma's products", () => {
  const wide = matmul.point({ m: 20, n: 512, k: 7168, layout: "nt" });
  const warpgroups = (more: Partial<ClusterConfig>) => {
    const whole = { ...config, LOAD: "wgmma", BM: 64, BN: 40, CLUSTER: 8 };
    return Object.entries(rules).flatMap(([name, rule]) =>
      rule(wide, { ...whole, ...more } as ClusterConfig, h200) ? [name] : []
    );
  };
  strictEqual(`${warpgroups({})}`, "");
  strictEqual(`${warpgroups({ BN: 48, WARPS: 8 })}`, "");
  // 20 rows want no second warpgroup of rows, nor half of 40 columns.
  strictEqual(`${warpgroups({ BM: 128, WARPS: 8 })}`, "tile");
  strictEqual(`${warpgroups({ WARPS: 8 })}`, "warpgroups");
  strictEqual(`${warpgroups({ BM: 16 })}`, "warpgroups");
  strictEqual(`${warpgroups({ BK: 32, STAGES: 8 })}`, "warpgroups");
});

Deno.test("rules of tensor maps and of clusters of several tiles", () => {
  const wide = matmul.point({ m: 256, n: 256, k: 7168, layout: "nt" });
  const tensor = { LOAD: "tensor", BM: 64, BN: 88, BK: 128 } as const;
  const broken = (more: Partial<ClusterConfig>, info = h200) =>
    Object.entries(rules).flatMap(([name, rule]) => {
      const whole = { ...config, ...tensor, CLUSTER: 8, TILES_M: 2, ...more };
      return rule(wide, whole as ClusterConfig, info) ? [name] : [];
    }).join();
  strictEqual(broken({}), "");
  strictEqual(broken({}, { ...h200, tensorMaps: false }), "maps");
  strictEqual(broken({ BM: 320, WARPS: 20 }), "tile,maps,shared,cluster");
  // Three tiles along N: tensor maps have zeros for a fourth.
  strictEqual(broken({ TILES_M: 1, TILES_N: 2 }), "");
  strictEqual(
    broken({ LOAD: "wgmma", TILES_M: 1, TILES_N: 2 }),
    "cluster",
  );
  strictEqual(broken({ CLUSTER: 2, TILES_M: 1, TILES_N: 4 }), "cluster");
  strictEqual(broken({ CLUSTER: 4, PARTS: 2 }), "cluster");
  match(
    rules.cluster!(wide, { ...config, ...tensor, TILES_M: 2 }, h200)!,
    /a cluster of 32 blocks, 16 are the most/,
  );
  // Nine slices of 7 steps leave the last without any.
  strictEqual(broken({ CLUSTER: 9, TILES_M: 1 }), "slices");
  // A warp of its own copies, and what one stage held would never be free.
  const many = { BM: 128, BN: 64, WARPS: 32, STAGES: 2, TILES_M: 1 };
  strictEqual(broken(many), "warpgroups");
  strictEqual(broken({ ...many, LOAD: "wgmma" }), "");
  strictEqual(broken({ STAGES: 1 }), "stages");
});
