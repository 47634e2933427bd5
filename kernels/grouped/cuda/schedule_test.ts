import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Sizes } from "../point.ts";
import { BENCH_LISTS } from "../gpu_mode.ts";
import { evenParts, pack, tilesOf } from "./schedule.ts";

const problemsOf = ({ m, n, k }: typeof BENCH_LISTS[number]): Sizes[] =>
  m.map((rows) => ({ m: rows, n, k }));

Deno.test("evenParts() are equal parts in whole steps, the last one shorter", () => {
  deepStrictEqual(evenParts(248, { MAXN: 192, STEP: 16 }), [128, 128]);
  deepStrictEqual(evenParts(300, { MAXN: 128, STEP: 16 }), [112, 112, 80]);
  deepStrictEqual(evenParts(1, { MAXN: 64, STEP: 32 }), [32]);
});

Deno.test("evenParts() cover every count of tokens once, within MAXN", () => {
  for (const MAXN of [64, 112, 192]) {
    for (let m = 1; m <= 400; m++) {
      const parts = evenParts(m, { MAXN, STEP: 16 });
      ok(parts.every((cols) => cols <= MAXN && cols % 16 === 0));
      const sum = parts.reduce((a, b) => a + b);
      ok(sum >= m && sum < m + 16);
    }
  }
});

Deno.test("tilesOf() cover all weights of all tokens, heaviest first", () => {
  const problems = [{ m: 130, n: 300, k: 128 }, { m: 7, n: 128, k: 256 }];
  const tiles = tilesOf(problems, {
    rows: 256,
    partsOf: (problem, row) => problem ? [16] : row ? [64, 80] : [48, 48, 48],
    clocksOf: (cols, k) => cols * k,
  });
  deepStrictEqual(
    tiles.map(({ problem, row, token, cols }) => [problem, row, token, cols]),
    [
      [0, 256, 64, 80],
      [0, 256, 0, 64],
      [0, 0, 0, 48],
      [0, 0, 48, 48],
      [0, 0, 96, 48],
      [1, 0, 0, 16],
    ],
  );
});

Deno.test("pack() loses no tile, and is within 10 % of even at the large lists", () => {
  for (const list of BENCH_LISTS.slice(0, 2)) {
    const problems = problemsOf(list);
    const tiles = tilesOf(problems, {
      rows: 256,
      partsOf: (problem) =>
        evenParts(problems[problem]!.m, { MAXN: 192, STEP: 16 }),
      clocksOf: (cols, k) => cols * k,
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
