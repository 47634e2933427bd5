import { assert as ok, assertAlmostEquals, assertEquals } from "@std/assert";
import { rangeOf, shareOf, ticksOf, tickText } from "./scale.ts";

Deno.test("ticksOf() gives four to ten ticks of whatever is drawn", () => {
  for (const least of [0.003, 0.7, 4.9, 33, 1e4]) {
    for (const ratio of [1, 1.5, 3, 11, 13, 80, 2e3, 1e5]) {
      const range = rangeOf([least, least * ratio]);
      const ticks = ticksOf(range);
      const said = `${least} × ${ratio}: ${ticks}`;
      ok(ticks.length >= 2 && ticks.length <= 12, said);
      ok(ticks.every((tick) => tick >= range.min && tick <= range.max), said);
      ok(range.max >= least * ratio, said);
    }
  }
});

Deno.test("ticksOf() has ticks around a single value", () => {
  for (const value of [1.05, 1.2, 3.4, 8.27, 990]) {
    const type = "logarithmic";
    const range = { type, min: value / 1.15, max: value * 1.15 } as const;
    const ticks = ticksOf(range);
    ok(ticks.length >= 2 && ticks.length <= 12, `${value}: ${ticks}`);
  }
});

Deno.test("tickText() has no digits that a sum left over", () => {
  assertEquals(
    [0.1 + 0.2, 2.5, 1000, 3e9].map(tickText),
    ["0.3", "2.5", "1000", "3G"],
  );
});

Deno.test("rangeOf() starts near the least value where it may, and is never empty", () => {
  const near = (...values: number[]) => rangeOf(values, { fromZero: false });
  assertEquals(near(9.71, 9.93), { type: "linear", min: 9.7, max: 9.95 });
  assertEquals(near(2, 17).min, 0);
  for (const values of [[5, 5], [0, 0]]) {
    const { min, max } = near(...values);
    ok(min <= values[0]! && max > min, `${min} to ${max}`);
  }
  const { min, max } = rangeOf([4, 4], { type: "logarithmic" });
  ok(min <= 4 && max > 4, `${min} to ${max}`);
});

Deno.test("shareOf() keeps ratios equally far apart on a logarithmic axis", () => {
  const range = rangeOf([1, 100], { type: "logarithmic" });
  assertEquals([shareOf(range, 1), shareOf(range, 100)], [0, 1]);
  assertAlmostEquals(shareOf(range, 10), 0.5);
  assertEquals(shareOf({ type: "linear", min: 10, max: 20 }, 15), 0.5);
});
