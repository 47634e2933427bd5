import { deepStrictEqual, ok } from "node:assert/strict";
import { spotOf } from "./label.ts";

const FLAT = [[0, 50], [200, 50]] as const;

Deno.test("spotOf() moves along the line to where no point is", () => {
  const taken = [[120, 40], [120, 60], [190, 42], [190, 58]] as const;
  const [x, y] = spotOf(60, { along: FLAT, taken });
  ok(x + 60 <= 120, `${x}`);
  deepStrictEqual(y, 40);
});

Deno.test("spotOf() ends a name that is longer than its line where the line does", () => {
  deepStrictEqual(spotOf(300, { along: FLAT, taken: [] }), [-104, 40]);
  deepStrictEqual(spotOf(30, { along: [[90, 20]], taken: [] }), [56, 10]);
});

Deno.test("spotOf() keeps above a line that falls", () => {
  const along = [[0, 50], [100, 50], [200, 150]] as const;
  const [, y] = spotOf(80, { along, taken: [[150, 170]] });
  ok(y < 110, `${y}`);
});
