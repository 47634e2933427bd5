import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { BENCH_LISTS, type Sizes } from "../point.ts";
import { evenParts, pack, streamed, type Tile, tilesOf } from "./schedule.ts";
import { balancedParts, type Load, splitCandidates } from "./splits.ts";

const problemsOf = ({ m, n, k }: typeof BENCH_LISTS[number]): Sizes[] =>
  m.map((rows) => ({ m: rows, n, k }));

Deno.test("evenParts() are equal parts in whole steps, the last one shorter", () => {
  assertEquals(evenParts(248, { MAXN: 192, STEP: 16 }), [128, 128]);
  assertEquals(evenParts(300, { MAXN: 128, STEP: 16 }), [112, 112, 80]);
  assertEquals(evenParts(1, { MAXN: 64, STEP: 32 }), [32]);
});

Deno.test("evenParts() cover every count of tokens once, within MAXN", () => {
  for (const MAXN of [64, 112, 192]) {
    for (let m = 1; m <= 400; m++) {
      const parts = evenParts(m, { MAXN, STEP: 16 });
      assert(parts.every((cols) => cols <= MAXN && cols % 16 === 0));
      const sum = parts.reduce((a, b) => a + b);
      assert(sum >= m && sum < m + 16);
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
  assertEquals(
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
    assertStrictEquals(bins.length, 66);
    assertEquals(new Set(bins.flat()), new Set(tiles));
    assertStrictEquals(bins.flat().length, tiles.length);
    const sums = bins.map((bin) =>
      bin.reduce((sum, { cost }) => sum + cost, 0)
    );
    assert(Math.abs(Math.max(...sums) - clocks) < 1e-6 * clocks);
    const even = sums.reduce((a, b) => a + b) / 66;
    assert(clocks < 1.1 * even, `${list.name}: ${clocks} of ${even}`);
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
  assertStrictEquals(clocks, 6);
});

Deno.test("pack() gives empty bins where there are fewer tiles", () => {
  const tile = { problem: 0, row: 0, token: 0, cols: 16, cost: 1 };
  assertEquals(pack([tile], 3).bins.map(({ length }) => length), [1, 0, 0]);
});

const SIZES = { MAXN: 128, LEAST: 48, STEP: 16 };

Deno.test("splitCandidates() are sizes of tiles that begin before the last token and cover all", () => {
  for (const sizes of [SIZES, { MAXN: 64, LEAST: 64, STEP: 32 }]) {
    for (let m = 1; m <= 600; m++) {
      for (const way of splitCandidates(m, sizes)) {
        const sum = way.reduce((a, b) => a + b);
        assert(sum >= m && sum - way.at(-1)! < m, `${m}: ${way}`);
        for (const cols of way) {
          assert(cols >= sizes.LEAST && cols <= sizes.MAXN, `${m}: ${way}`);
          assert((cols - sizes.LEAST) % sizes.STEP === 0, `${m}: ${way}`);
        }
      }
    }
  }
});

Deno.test("splitCandidates() begin with equal parts, and have those that leave a given room", () => {
  const ways = splitCandidates(176, SIZES).map(String);
  assertEquals(ways[0], "96,80");
  for (const way of ["128,48", "112,64", "64,64,48"]) {
    assert(ways.includes(way), way);
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
    problems,
    rows: 256,
    bins: 9,
    clocksOf: (cols: number) => cols,
    sizes: { MAXN: 128, LEAST: 16, STEP: 16 },
  };
  // 8 rows of tiles of 128 and of 160 are 1152 tokens: 128 for each bin.
  assertEquals(fullness(load), 1);
});

Deno.test("balancedParts() lets bins be within 20 % of even at list A, where equal parts are not", () => {
  const { m, n, k } = BENCH_LISTS[0]!;
  const problems = m.map((m) => ({ m, n, k }));
  // Fewer than 64 tokens are no faster.
  const clocksOf = (cols: number, k: number) => k * Math.max(cols, 64);
  const load = { problems, rows: 256, bins: 132, clocksOf, sizes: SIZES };
  assert(fullness(load) < 1.2, `${fullness(load)}`);
  assert(fullness({ ...load, sizes: { ...SIZES, STEP: 80 } }) > 1.25);
});

const tile = (row: number): Tile => ({
  problem: 0,
  row,
  token: 0,
  cols: 64,
  cost: 0,
});
const costsOf = () => ({ fixed: 10, slab: 10, piece: 20 });

Deno.test("streamed() has every slab of every tile once, in the order of K", () => {
  for (const bins of [1, 3, 7]) {
    for (const slabs of [1, 5, 33]) {
      const tiles = Array.from({ length: 5 }, (_, i) => tile(i));
      const made = streamed({ tiles, bins, slabsOf: () => slabs, costsOf });
      assert(made.bins.length <= bins);
      for (const { row } of tiles) {
        const parts = made.bins.flat().filter((piece) => piece.row === row);
        let first = 0;
        for (const [i, part] of parts.entries()) {
          assertEquals([part.first, part.piece], [first, i]);
          assertStrictEquals(part.pieces, parts.length);
          assertStrictEquals(part.cut >= 0, parts.length > 1);
          first += part.slabs;
        }
        assertStrictEquals(first, slabs);
      }
    }
  }
});

Deno.test("streamed() fills bins where whole tiles leave some idle", () => {
  const tiles = Array.from({ length: 4 }, (_, i) => tile(i));
  const { bins, clocks } = streamed({
    tiles,
    bins: 3,
    slabsOf: () => 96,
    costsOf,
  });
  assertStrictEquals(bins.length, 3);
  // Two whole tiles in one bin take 1940.
  assert(clocks < 1400, `${clocks}`);
});

Deno.test("streamed() cuts no tile that has a bin of its own", () => {
  const tiles = [tile(0), tile(1)];
  const { bins } = streamed({ tiles, bins: 2, slabsOf: () => 8, costsOf });
  assertEquals(bins.map((bin) => bin.map(({ pieces }) => pieces)), [[1], [
    1,
  ]]);
});
