import { assert, assertEquals } from "@std/assert";
import { rangeOf, tickText } from "./axes.ts";

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
    assert(min <= values[0]! && max > min, `${min} to ${max}`);
  }
  const { min, max } = rangeOf([4, 4], { type: "logarithmic" });
  assert(min <= 4 && max > 4, `${min} to ${max}`);
});
