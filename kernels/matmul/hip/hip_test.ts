import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { noMfma } from "../../common/arch.ts";
import { mi300x } from "../../testdata/devices.ts";
import { hipKernels } from "./hip.ts";
import { hipRules, hipTiles, ldsBytes, wavesOfK } from "./decompose_k.ts";
import { matmul } from "../op.ts";

Deno.test("hipKernels are in the order of listings", () => {
  assertEquals(hipKernels.map((k) => k.name), [
    "hipblas",
    "hipblaslt",
    "hipblaslt-tuned",
    "bmm-sum",
    "decompose-k-tile",
    "decompose-k-tile-unfused",
    "decompose-k",
    "decompose-k-unfused",
    "splitk-lds",
    "splitk-lds-atomic",
  ]);
  assert(hipKernels.every(({ backend }) => backend === "hip"));
});

Deno.test("noMfma() names what has the instructions", () => {
  assertStrictEquals(noMfma(mi300x), undefined);
  assertMatch(noMfma({ ...mi300x, arch: "gfx1100" })!, /^gfx1100 has no MFMA/);
});

Deno.test("hipRules each refuse something", () => {
  const points = [
    matmul.point({ m: 64, n: 64, k: 8192, type: "f32" }),
    matmul.point({ m: 16, n: 16, k: 96 }),
  ];
  const config = { BM: 64, BN: 64, BK: 512, WAVES: 16, SPLIT: 2 };
  const cases = {
    split: { ...config, SPLIT: 5 },
    slice: { ...config, SPLIT: 32 },
    shared: config,
    waves: { ...config, BM: 16, BN: 16, BK: 64, WAVES: 8 },
    tile: config,
    step: config,
    grid: { ...config, SPLIT: 65536 },
  };
  assertEquals(Object.keys(cases), Object.keys(hipRules));
  for (const [name, config] of Object.entries(cases)) {
    const rule = hipRules[name as keyof typeof hipRules];
    assert(points.some((p) => rule(p, config, mi300x) !== undefined), name);
  }
});

Deno.test("hipTiles all fit a compute unit in bf16, and are legal somewhere", () => {
  const point = matmul.point({ m: 64, n: 64, k: 1 << 15 });
  for (const tile of hipTiles) {
    assert(ldsBytes(tile, "bf16") <= mi300x.sharedBytes, JSON.stringify(tile));
    assert(Number.isInteger(wavesOfK(tile)));
    const config = { ...tile, SPLIT: 2 };
    for (const [name, rule] of Object.entries(hipRules)) {
      assertStrictEquals(rule(point, config, mi300x), undefined, name);
    }
  }
});
