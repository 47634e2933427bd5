import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { streamed, type Tile } from "./schedule.ts";

const tile = (row: number): Tile => ({
  ...{ problem: 0, row, token: 0, cols: 64, cost: 0 },
});
const costsOf = () => ({ fixed: 10, slab: 10, piece: 20 });

Deno.test("streamed() has every slab of every tile once, in the order of K", () => {
  for (const bins of [1, 3, 7]) {
    for (const slabs of [1, 5, 33]) {
      const tiles = Array.from({ length: 5 }, (_, i) => tile(i));
      const made = streamed({ tiles, bins, slabsOf: () => slabs, costsOf });
      ok(made.bins.length <= bins);
      for (const { row } of tiles) {
        const parts = made.bins.flat().filter((piece) => piece.row === row);
        let first = 0;
        for (const [i, part] of parts.entries()) {
          deepStrictEqual([part.first, part.piece], [first, i]);
          strictEqual(part.pieces, parts.length);
          strictEqual(part.cut >= 0, parts.length > 1);
          first += part.slabs;
        }
        strictEqual(first, slabs);
      }
    }
  }
});

Deno.test("streamed() fills bins where whole tiles leave some idle", () => {
  const tiles = Array.from({ length: 4 }, (_, i) => tile(i));
  const { bins, clocks } = streamed({
    ...{ tiles, bins: 3, slabsOf: () => 96, costsOf },
  });
  strictEqual(bins.length, 3);
  // Two whole tiles in one bin take 1940.
  ok(clocks < 1400, `${clocks}`);
});

Deno.test("streamed() cuts no tile that has a bin of its own", () => {
  const tiles = [tile(0), tile(1)];
  const { bins } = streamed({ tiles, bins: 2, slabsOf: () => 8, costsOf });
  deepStrictEqual(bins.map((bin) => bin.map(({ pieces }) => pieces)), [[1], [
    1,
  ]]);
});
