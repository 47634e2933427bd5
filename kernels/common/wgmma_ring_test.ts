import { assertEquals } from "@std/assert";
import { ringDefines } from "./wgmma_ring.ts";

Deno.test("ringDefines() raises registers to what all threads of a block start with", () => {
  const of = (WARPS: number) =>
    ringDefines({ m: 256, n: 256, k: 4096 }, {
      ...{ BM: 256, BN: 256, BK: 128, WARPS, CLUSTER: 1, RESIDENT: 1 },
    }, { step: 65_536, beside: 0, registers: 240 }).REGISTERS;
  // 384, 512 and 640 threads start with 168, 128 and 96, of which 128 threads keep 24.
  assertEquals([8, 12, 16].map(of), [240, 160, 112]);
});
