import { assertEquals, assertThrows } from "@std/assert";
import { CaseError } from "../model/errors.ts";
import { i32 } from "./queue.ts";

Deno.test("i32() refuses what 32 bits do not hold", () => {
  for (const value of [0, -(2 ** 31), 2 ** 31 - 1]) {
    assertEquals(i32(value), { kind: "i32", value });
  }
  for (const value of [2 ** 31, -(2 ** 31) - 1, 0.5, NaN]) {
    const error = assertThrows(() => i32(value), CaseError);
    assertEquals(error.message.startsWith(`${value} is no 32-bit`), true);
    assertEquals(
      error.failure,
      Number.isInteger(value) ? "unsupported" : "launch",
    );
  }
});
