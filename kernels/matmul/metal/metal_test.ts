import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { m3max } from "../../testdata/devices.ts";
import { metalRoom } from "../../common/metal_tile.ts";
import { metalKernels, metalRules, metalTiles } from "./metal.ts";
import { matmul } from "../op.ts";

Deno.test("metalKernels are in the order of listings", () => {
  assertEquals(metalKernels.map((k) => k.name), [
    "mps",
    "product",
    "decompose-k-tile",
    "decompose-k-tile-unfused",
    "decompose-k",
    "decompose-k-unfused",
  ]);
  assert(metalKernels.every(({ backend }) => backend === "metal"));
});

Deno.test("metalRules each refuse something", () => {
  const point = matmul.point({ m: 16, n: 16, k: 96, type: "f32" });
  const config = { BM: 64, BN: 64, BK: 128, SM: 2, SN: 2, SPLIT: 2 };
  const cases = {
    split: { ...config, SPLIT: 5 },
    slice: { ...config, SPLIT: 32 },
    shared: config,
    tile: config,
    step: config,
  };
  assertEquals(Object.keys(cases), Object.keys(metalRules));
  for (const [name, config] of Object.entries(cases)) {
    const rule = metalRules[name as keyof typeof metalRules];
    assert(rule(point, config, m3max) !== undefined, name);
  }
});

Deno.test("metalTiles all fit a threadgroup in every type and layout", () => {
  for (const tile of metalTiles) {
    for (const type of ["bf16", "f16", "f32"] as const) {
      for (const layout of ["nn", "nt"] as const) {
        const bytes = metalRoom(tile, { type, layout });
        assert(bytes <= m3max.sharedBytes, JSON.stringify([tile, type, bytes]));
        assertStrictEquals(bytes % 16, 0);
      }
    }
  }
});
