import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { inkOn } from "../canvas/color.ts";
import { THEMES } from "../canvas/theme.ts";
import { beyond, colorOf, endOf } from "./scale.ts";

Deno.test("colorOf() turns the letters' colour at most once from 1 to an end", () => {
  for (const theme of [THEMES.light, THEMES.dark]) {
    for (const sign of [-1, 1]) {
      const inks = Array.from(
        { length: 201 },
        (_, i) => inkOn(colorOf(100 ** (sign * i / 200), 100, theme)),
      );
      const turns = inks.filter((ink, i) => i > 0 && ink !== inks[i - 1]);
      ok(turns.length <= 1, `${theme.name} ${sign}: ${turns}`);
      if (theme.name === "light") strictEqual(turns.length, 0, `${sign}`);
    }
  }
});

Deno.test("beyond() says at which end the key leaves values out", () => {
  const factors = [0.5, 1, 181];
  strictEqual(endOf(factors), 100);
  deepStrictEqual(beyond(factors, 100), { below: false, above: true });
  deepStrictEqual(beyond([1 / 181, 3], 100), { below: true, above: false });
  deepStrictEqual(beyond([0.01, 100], 100), { below: false, above: false });
});
