import { deepStrictEqual, strictEqual } from "node:assert/strict";
import {
  type ClusterConfig,
  clustersAtOnce,
  columnsOf,
  cutOf,
  lanesOf,
  sharedBytes,
  sliceOf,
} from "./configs.ts";
import { matmul } from "../../op.ts";

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
Deno.test("cutOf() is Cut of warp_tiling.cuh", () => {
  const wide = { n: 4096, type: "bf16" } as const;
  const of = (BM: number, BN: number, WARPS: number, KWARPS = 1) =>
    cutOf(wide, { ...config, BM, BN, WARPS, KWARPS } as ClusterConfig).k;
  deepStrictEqual(
    [of(16, 16, 4), of(16, 32, 4), of(32, 32, 4), of(32, 32, 8), of(64, 64, 8)],
    [4, 2, 1, 2, 1],
  );
  deepStrictEqual([of(32, 32, 8, 8), of(64, 64, 8, 2)], [8, 2]);
  // Columns are halved by eights.
  deepStrictEqual([of(16, 8, 4), of(16, 40, 4), of(32, 48, 8)], [4, 4, 2]);
  const wgmma = { ...config, LOAD: "wgmma", BM: 64, BN: 40 } as const;
  deepStrictEqual(cutOf(wide, wgmma), { m: 16, n: 40, k: 1 });
  // 48 rows are no two times sixteens, and of 48 columns only fp32 does not take 24.
  const narrow = { ...config, BM: 48, BN: 64, WARPS: 8 } as const;
  const of48 = (type: "bf16" | "f32") => cutOf({ n: 48, type }, narrow);
  deepStrictEqual(of48("bf16"), { m: 48, n: 24, k: 4 });
  deepStrictEqual(of48("f32"), { m: 48, n: 48, k: 8 });
});

Deno.test("columnsOf() leaves out those that a small output lacks", () => {
  const of = (n: number, LOAD: ClusterConfig["LOAD"] = "ring") =>
    columnsOf({ n }, { LOAD, BN: 64 });
  deepStrictEqual([of(48), of(33), of(64), of(4096)], [48, 48, 64, 64]);
  deepStrictEqual([of(48, "warps"), of(48, "direct")], [48, 64]);
});

Deno.test("lanesOf() is Lanes of tiled_ffma.cuh", () => {
  const of = (BM: number, BN: number, BK: number, KWARPS = 8) => {
    const { rows, columns, groups } = lanesOf(
      { n: 4096, type: "f32" },
      { ...config, BM, BN, BK, WARPS: 8, KWARPS } as ClusterConfig,
    );
    return [rows, columns, groups].join(" ");
  };
  strictEqual(of(16, 16, 256), "8 8 8");
  // Eight warps leave a step of 128 four times four k each, and one of 64 two times.
  strictEqual(of(16, 16, 128), "8 4 4");
  strictEqual(of(16, 16, 64), "4 4 2");
  deepStrictEqual(
    [of(16, 32, 128), of(32, 32, 128), of(64, 64, 128, 1), of(64, 64, 128)],
    ["8 8 4", "8 8 2", "8 8 4", "8 16 1"],
  );
});

Deno.test("clustersAtOnce() is what an H200's driver said", () => {
  deepStrictEqual(
    [1, 2, 3, 4, 6, 7, 8, 9, 16].map((size) => clustersAtOnce(132, size)),
    [132, 66, 39, 30, 17, 15, 15, 9, 7],
  );
  // Nobody asked for five and for twelve: six and sixteen fit so often.
  deepStrictEqual([clustersAtOnce(132, 5), clustersAtOnce(132, 12)], [17, 7]);
  strictEqual(clustersAtOnce(16, 16), 1);
});

Deno.test("sliceOf() cuts K into whole K steps, or whole k16 steps, that cover it", () => {
  strictEqual(sliceOf(point, config), 512);
  // 32 steps of 256 for 11 blocks: three each, and two for the last.
  strictEqual(sliceOf(point, { ...config, CLUSTER: 1, PARTS: 11 }), 768);
  const odd = { ...config, CLUSTER: 1, PARTS: 14 } as ClusterConfig;
  // 8192 / 14 = 585.1
  strictEqual(sliceOf(point, odd), 592);
  strictEqual(sliceOf({ k: 7 }, { ...odd, PARTS: 1 }), 16);
  // Tensor maps copy whole steps.
  strictEqual(sliceOf({ k: 600 }, { ...config, LOAD: "tensor" }), 256);
});

Deno.test("sharedBytes() has room for the ring, the mailboxes and what meets", () => {
  // 2 * 32 * 256 * 2, 16 * 16 * 4, 16 and 16 of each of 128 threads.
  strictEqual(sharedBytes(point, config), 32768 + 1024 + 16 + 2048);
  const direct = { ...config, LOAD: "direct", WARPS: 8, KWARPS: 8 } as const;
  // The sums of eight warps in place of the ring.
  strictEqual(sharedBytes(point, direct), 8192 + 1024 + 16 + 4096);
  // Without slices nothing meets.
  strictEqual(sharedBytes(point, { ...config, CLUSTER: 1 }), 32768);
});
