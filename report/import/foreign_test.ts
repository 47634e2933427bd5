import { assertEquals } from "@std/assert";
import { pythonFloat, shiftDecimal } from "./foreign.ts";

const SHIFTED: readonly (readonly [string, number, string | undefined])[] = [
  ["0.0096", 3, "9.6"],
  ["9.6", -3, "0.0096"],
  ["16", -3, "0.016"],
  ["16000", -3, "16"],
  ["16", 3, "16000"],
  ["0", -3, "0"],
  ["-1.25", 1, "-12.5"],
  ["9.2e-05", 3, "0.092"],
  ["1e-7", -3, "0.0000000001"],
  ["1.5E3", 0, "1500"],
  ["+.5", 0, "0.5"],
  ["5.", 0, "5"],
  ["", 3, undefined],
  [".", 3, undefined],
  ["nan", 3, undefined],
  ["1,5", 3, undefined],
  ["0x10", 3, undefined],
];

Deno.test("shiftDecimal() moves the point and changes no digit", () => {
  for (const [text, places, wanted] of SHIFTED) {
    assertEquals(shiftDecimal(text, places), wanted, `${text} by ${places}`);
  }
});

Deno.test("shiftDecimal() there and back is the same text", () => {
  for (let i = 1; i < 2000; i++) {
    // Floats of 16 and 17 digits, as a median of averages is.
    const text = `${(i * 7919) / 1013}`;
    assertEquals(shiftDecimal(shiftDecimal(text, -3)!, 3), text);
  }
});

Deno.test("pythonFloat() marks whole numbers as floats", () => {
  assertEquals(pythonFloat("1"), "1.0");
  assertEquals(pythonFloat("1.5"), "1.5");
});
