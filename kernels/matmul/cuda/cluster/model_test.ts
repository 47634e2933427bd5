import { match, ok, strictEqual } from "node:assert/strict";
import type { ClusterConfig } from "./configs.ts";
import { predict, resident } from "./model.ts";
import { matmul } from "../../op.ts";
import { h200 } from "../../../testdata/h200.ts";

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
Deno.test("resident counts the blocks that are on the device at once", () => {
  const parts = { ...config, CLUSTER: 1 };
  // 64 KiB of ring: three blocks would fit, four warps of 255 registers allow two.
  strictEqual(resident(point, { ...parts, PARTS: 264 }, h200), undefined);
  match(
    resident(point, { ...parts, PARTS: 265 }, h200)!,
    /265 blocks wait for one another, 264 are on the device at once/,
  );
  match(
    resident(point, { ...parts, PARTS: 265, WARPS: 8 }, h200)!,
    /132 are on the device/,
  );
  strictEqual(
    resident(point, { ...parts, CLUSTER: 2, PARTS: 66 }, h200),
    undefined,
  );
  match(
    resident(point, { ...parts, CLUSTER: 4, PARTS: 2 }, h200)!,
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
  ok(at(8192, {}) < at(8192, { ...parts, PARTS: 8 }));
  ok(at(32768, { STAGES: 4 }) > at(32768, parts));
  // 17.1 against 14.4 µs: of clusters of 16 the device holds 7, of 4 with such blocks 30.
  const router = matmul.point({ m: 256, n: 256, k: 7168, layout: "nt" });
  const ring = { ...config, BM: 64, BN: 128, BK: 128, STAGES: 4, CLUSTER: 8 };
  const warps = { BM: 32, BN: 64, BK: 256, KWARPS: 4, STAGES: 3, CLUSTER: 4 };
  ok(
    predict(router, ring, h200) <
      predict(router, { ...config, ...warps, LOAD: "warps" }, h200),
  );
  // More than a wave.
  ok(at(8192, parts) < at(8192, { ...parts, PARTS: 512, BK: 16 }));
});
