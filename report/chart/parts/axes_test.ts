import { deepStrictEqual, ok } from "node:assert/strict";
import { rangeOf, ticksOf, tickText } from "./axes.ts";

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
  deepStrictEqual(
    [0.1 + 0.2, 2.5, 1000, 3e9].map(tickText),
    ["0.3", "2.5", "1000", "3G"],
  );
});
