import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Sizes } from "./point.ts";
import { BENCH_LISTS } from "./seed.ts";
import { pack, packedRows, tilesOf, tokenTiles } from "./schedule.ts";

const problemsOf = ({ m, n, k }: typeof BENCH_LISTS[number]): Sizes[] =>
  m.map((rows) => ({ m: rows, n, k }));

Deno.test("tokenTiles() are equal parts in whole steps, the last one shorter", () => {
  deepStrictEqual(tokenTiles(248, { MAXN: 192, STEP: 16 }), [
    { token: 0, cols: 128 },
    { token: 128, cols: 128 },
  ]);
  deepStrictEqual(tokenTiles(300, { MAXN: 128, STEP: 16 }), [
    { token: 0, cols: 112 },
    { token: 112, cols: 112 },
    { token: 224, cols: 80 },
  ]);
  deepStrictEqual(tokenTiles(1, { MAXN: 64, STEP: 32 }), [{
    token: 0,
    cols: 32,
  }]);
});

Deno.test("tokenTiles() cover every count of tokens once, within MAXN", () => {
  for (const MAXN of [64, 112, 192]) {
    for (let m = 1; m <= 400; m++) {
      let next = 0;
      for (const { token, cols } of tokenTiles(m, { MAXN, STEP: 16 })) {
        strictEqual(token, next);
        ok(token < m && cols <= MAXN && cols % 16 === 0);
        next += cols;
      }
      ok(next >= m && next < m + 16);
      strictEqual(packedRows(m, { MAXN, STEP: 16, CLUSTER: 1 }), next);
    }
  }
});

Deno.test("tilesOf() cover all weights of all tokens, heaviest first", () => {
  const problems = [{ m: 130, n: 300, k: 128 }, { m: 7, n: 128, k: 256 }];
  const tiles = tilesOf(problems, { MAXN: 64, STEP: 16, CLUSTER: 2 });
  // Two rows of blocks by three parts, one by one.
  strictEqual(tiles.length, 2 * 3 + 1);
  const costs = tiles.map(({ cost }) => cost);
  deepStrictEqual(costs, costs.toSorted((a, b) => b - a));
});

Deno.test("pack() loses no tile, and is within 10 % of even at the large lists", () => {
  for (const list of BENCH_LISTS.slice(0, 2)) {
    const tiles = tilesOf(problemsOf(list), {
      MAXN: 192,
      STEP: 16,
      CLUSTER: 2,
    });
    const { bins, clocks } = pack(tiles, 66);
    strictEqual(bins.length, 66);
    deepStrictEqual(new Set(bins.flat()), new Set(tiles));
    strictEqual(bins.flat().length, tiles.length);
    const sums = bins.map((bin) =>
      bin.reduce((sum, { cost }) => sum + cost, 0)
    );
    ok(Math.abs(Math.max(...sums) - clocks) < 1e-6 * clocks);
    const even = sums.reduce((a, b) => a + b) / 66;
    ok(clocks < 1.1 * even, `${list.name}: ${clocks} of ${even}`);
  }
});

Deno.test("pack() beats first come where that leaves a heavy tile for the end", () => {
  const tile = (cost: number) => ({
    problem: 0,
    row: 0,
    token: 0,
    cols: 16,
    cost,
  });
  // Heaviest to the emptiest bin gives 3 + 2 + 2 = 7 beside 5.
  const { clocks } = pack([3, 3, 2, 2, 2].map(tile), 2);
  strictEqual(clocks, 6);
});

Deno.test("pack() gives empty bins where there are fewer tiles", () => {
  const tile = { problem: 0, row: 0, token: 0, cols: 16, cost: 1 };
  deepStrictEqual(pack([tile], 3).bins.map(({ length }) => length), [1, 0, 0]);
});
