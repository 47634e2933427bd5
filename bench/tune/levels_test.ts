import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { contenders, effortOf, MOST_LEVEL } from "./levels.ts";

const counts = (legal: Parameters<typeof contenders>[0]) =>
  Array.from(
    { length: MOST_LEVEL + 1 },
    (_, level) => contenders(legal, level).length,
  );

Deno.test("contenders() grow with the level, up to all of them", () => {
  // 1, 1.01, 1.02 ... the model's best: 51 are within 1.5x, 201 within 3x.
  const legal = Array.from(
    { length: 300 },
    (_, i) => ({ config: { I: i }, predicted: (100 + i) / 100 }),
  );
  assertEquals(counts(legal), [1, 4, 16, 51, 201, 300]);
  assertEquals(contenders(legal, 1).map(({ config }) => config.I), [
    0,
    1,
    2,
    3,
  ]);
});

Deno.test("contenders() at level 3 are 64 at most of those that the model puts level", () => {
  const legal = Array.from(
    { length: 200 },
    (_, i) => ({ config: { I: i }, predicted: 1 }),
  );
  assertEquals(counts(legal), [1, 4, 16, 64, 200, 200]);
});

Deno.test("contenders() keep some however far the model puts them behind", () => {
  const legal = Array.from(
    { length: 200 },
    (_, i) => ({ config: { I: i }, predicted: i === 0 ? 1 : 1000 }),
  );
  assertEquals(counts(legal), [1, 4, 16, 24, 128, 200]);
});

Deno.test("contenders() are all of them where there is no model, from level 3", () => {
  const legal = Array.from({ length: 200 }, (_, i) => ({ config: { I: i } }));
  assertEquals(counts(legal), [1, 4, 16, 200, 200, 200]);
  assertEquals(counts([]), [0, 0, 0, 0, 0, 0]);
});

Deno.test("effortOf() never asks less of a higher level", () => {
  for (let level = 2; level <= MOST_LEVEL; level++) {
    const [low, high] = [effortOf(level - 1), effortOf(level)];
    for (const name of ["most", "least", "finalists", "turns"] as const) {
      assertEquals(high[name] >= low[name], true, `${name} of ${level}`);
    }
  }
  assertMatch(
    assertThrows(() => effortOf(0), Error).message,
    /levels that search are 1 to 5/,
  );
  assertThrows(() => effortOf(6), RangeError);
});
