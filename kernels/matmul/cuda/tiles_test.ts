import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Values } from "../../../bench/model/grid.ts";
import { h200 } from "../../testdata/h200.ts";
import { config, legal, seed } from "../testdata/listener.ts";
import { matmul } from "../op.ts";
import { gridOf, predict, rules, type TileConfig } from "./tiles.ts";

Deno.test("rules name what is wrong with a config", () => {
  const at = (rule: keyof typeof rules, more: Values) =>
    rules[rule](seed, { ...config, ...more } as TileConfig, h200);
  for (const rule of Object.values(rules)) {
    strictEqual(rule(seed, config, h200), undefined);
  }
  strictEqual(at("split", { SPLIT: 48 }), "K=8192 is no multiple of SPLIT=48");
  strictEqual(
    at("slice", { SPLIT: 1024 }),
    "a slice of 8 is shorter than 16",
  );
  strictEqual(
    at("tile", { BM: 32 }),
    "more than half of BM=32 would be padding",
  );
  strictEqual(
    at("tile", { BN: 64 }),
    "more than half of BN=64 would be padding",
  );
  strictEqual(
    at("step", { BK: 128, SPLIT: 128 }),
    "more than half of BK=128 would be padding",
  );
  // 5 * (64 + 64) * 256 * 2
  strictEqual(
    at("shared", { BM: 64, BN: 64, BK: 256, STAGES: 5 }),
    "5 stages take 327680 bytes of shared memory, a block may have 232448",
  );
  const tall = matmul.point({ m: 1 << 21, n: 16, k: 8192 });
  strictEqual(
    rules.grid(tall, { ...config, SPLIT: 64 }),
    "a grid of 1 x 1048576 blocks is beyond 65535",
  );
});

Deno.test("rules let a tile cover a ragged edge that fills half of it", () => {
  const ragged = matmul.point({ m: 17, n: 33, k: 1024 });
  const at = (BM: number, BN: number) =>
    rules.tile(ragged, { ...config, BM, BN });
  strictEqual(at(32, 64), undefined);
  ok(at(64, 64));
  ok(at(32, 128));
});

Deno.test("gridOf() has group rows, columns, and groups of slices", () => {
  const of = (m: number, n: number, more = {}) =>
    gridOf({ m, n }, { ...config, ...more });
  deepStrictEqual(of(16, 16), [1, 1, 64]);
  deepStrictEqual(of(48, 33), [3, 3, 64]);
  // 300 rows are 19 tiles: three groups of 8, the last not full.
  deepStrictEqual(of(300, 72), [8, 5, 192]);
});

Deno.test("candidates() come best guess first", () => {
  const [first] = legal("decompose-k", { m: 64, n: 64, k: 32768 });
  const us = (c: Values) =>
    predict(matmul.point({ m: 64, n: 64, k: 32768 }), c as TileConfig, {
      units: 132,
    });
  for (const c of legal("decompose-k", { m: 64, n: 64, k: 32768 })) {
    ok(us(first!) <= us(c));
  }
  // One block that does all the work is the worst of predictes.
  ok(us({ ...config, SPLIT: 2 }) > 4 * us(first!));
});
