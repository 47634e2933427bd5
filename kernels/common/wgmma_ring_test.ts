import { assertEquals, assertStrictEquals } from "@std/assert";
import { ringDefines, ringRules } from "./wgmma_ring.ts";

Deno.test("ringDefines() raises registers to what all threads of a block start with", () => {
  const of = (WARPS: number) =>
    ringDefines({ m: 256, n: 256, k: 4096 }, {
      BM: 256,
      BN: 256,
      BK: 128,
      WARPS,
      CLUSTER: 1,
      RESIDENT: 1,
    }, { step: 65_536, beside: 0, registers: 240 }).REGISTERS;
  // 384, 512 and 640 threads start with 168, 128 and 96, of which 128 threads keep 24.
  assertEquals([8, 12, 16].map(of), [240, 160, 112]);
});

Deno.test("ringRules() refuses warps that leave a part of a tile without products", () => {
  const { warps } = ringRules(() => ({ step: 0, beside: 0, registers: 0 }));
  const of = (BM: number, WARPS: number) =>
    warps({ m: 1, n: 1, k: 1 }, {
      BM,
      BN: 48,
      BK: 128,
      WARPS,
      CLUSTER: 1,
      RESIDENT: 1,
    });
  for (const [BM, WARPS] of [[40, 4], [64, 12], [128, 8], [192, 12]] as const) {
    assertStrictEquals(of(BM, WARPS), undefined);
  }
  // Those of the last warpgroup would have columns 32 to 63, and only of the first 64 rows.
  assertStrictEquals(
    of(128, 12),
    "12 warps are no multiple of the 8 that 128 rows take",
  );
  assertStrictEquals(
    of(256, 32),
    "32 warps and those that copy exceed 1024 threads",
  );
});
