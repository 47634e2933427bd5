import { deepStrictEqual, ok } from "node:assert/strict";
import { pack, tilesOf } from "./schedule.ts";
import { BENCH_LISTS } from "../gpu_mode.ts";
import { balancedParts, type Load, waysToCut } from "./splits.ts";

const SIZES = { MAXN: 128, LEAST: 48, STEP: 16 };

Deno.test("waysToCut() are sizes of tiles that begin before the last token and cover all", () => {
  for (const sizes of [SIZES, { MAXN: 64, LEAST: 64, STEP: 32 }]) {
    for (let m = 1; m <= 600; m++) {
      for (const way of waysToCut(m, sizes)) {
        const sum = way.reduce((a, b) => a + b);
        ok(sum >= m && sum - way.at(-1)! < m, `${m}: ${way}`);
        for (const cols of way) {
          ok(cols >= sizes.LEAST && cols <= sizes.MAXN, `${m}: ${way}`);
          ok((cols - sizes.LEAST) % sizes.STEP === 0, `${m}: ${way}`);
        }
      }
    }
  }
});

Deno.test("waysToCut() begin with equal parts, and have those that leave a given room", () => {
  const ways = waysToCut(176, SIZES).map(String);
  deepStrictEqual(ways[0], "96,80");
  for (const way of ["128,48", "112,64", "64,64,48"]) {
    ok(ways.includes(way), way);
  }
});

/** The fullest of the bins, in parts of what there is for each. */
function fullness(load: Load): number {
  const cut = { ...load, partsOf: balancedParts(load) };
  const tiles = tilesOf(load.problems, cut);
  const even = load.problems.reduce(
    (sum, { m, n, k }) => sum + load.clocksOf(m, k) * n / load.rows,
    0,
  ) / load.bins;
  return pack(tiles, load.bins).clocks / even;
}

Deno.test("balancedParts() mix what fills bins: 96 tokens and 32 in each", () => {
  const problems = [{ m: 128, n: 1024, k: 64 }, { m: 160, n: 1024, k: 64 }];
  const load = {
    ...{ problems, rows: 256, bins: 9, clocksOf: (cols: number) => cols },
    sizes: { MAXN: 128, LEAST: 16, STEP: 16 },
  };
  // 8 rows of tiles of 128 and of 160 are 1152 tokens: 128 for each bin.
  deepStrictEqual(fullness(load), 1);
});

Deno.test("balancedParts() lets bins be within 20 % of even at list A, where equal parts are not", () => {
  const { m, n, k } = BENCH_LISTS[0]!;
  const problems = m.map((m) => ({ m, n, k }));
  // Fewer than 64 tokens are no faster.
  const clocksOf = (cols: number, k: number) => k * Math.max(cols, 64);
  const load = { problems, rows: 256, bins: 132, clocksOf, sizes: SIZES };
  ok(fullness(load) < 1.2, `${fullness(load)}`);
  ok(fullness({ ...load, sizes: { ...SIZES, STEP: 80 } }) > 1.25);
});
