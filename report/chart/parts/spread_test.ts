import { deepStrictEqual, ok } from "node:assert/strict";
import { spread } from "./spread.ts";

const ROOM = { gap: 10, from: 0, to: 100 };

Deno.test("spread() leaves alone what does not touch", () => {
  deepStrictEqual(spread([80, 20, 50], ROOM), [80, 20, 50]);
  deepStrictEqual(spread([], ROOM), []);
});

Deno.test("spread() keeps labels apart, in order and within", () => {
  const wanted = [99, 98, 97, 3, 50, 51, 52, 49];
  const got = spread(wanted, ROOM);
  const order = wanted.map((_, i) => i).toSorted((a, b) =>
    wanted[a]! - wanted[b]!
  );
  for (const [i, at] of order.entries()) {
    ok(got[at]! >= 0 && got[at]! <= 100, `${got}`);
    if (i > 0) ok(got[at]! - got[order[i - 1]!]! >= 10 - 1e-9, `${got}`);
  }
});

Deno.test("spread() moves labels closer where there is no room", () => {
  deepStrictEqual(spread([5, 5, 5, 5, 5], { ...ROOM, to: 20 }), [
    0,
    5,
    10,
    15,
    20,
  ]);
});
