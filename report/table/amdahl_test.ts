import { assertEquals } from "@std/assert";
import { amdahl } from "./amdahl.ts";

Deno.test("amdahl() is 1 / ((1 - f) + f / s)", () => {
  const table: readonly (readonly [number, number, string])[] = [
    [0.85, 1.05, "1.0422"],
    [0.85, 1.15, "1.1247"],
    [0.85, 1.3, "1.2440"],
    [0.5, 2, "1.3333"],
    [0, 9, "1.0000"],
    [1, 9, "9.0000"],
    [0.85, 0.5, "0.5405"],
  ];
  for (const [fraction, speedup, whole] of table) {
    assertEquals(amdahl(fraction, speedup).toFixed(4), whole);
  }
  assertEquals(amdahl(0.75, Infinity), 4);
  assertEquals(amdahl(1, Infinity), Infinity);
});
