import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { UserError } from "../../bench/model/errors.ts";
import { readSameCode, SameCode } from "./same_code.ts";

const PAIR = { was: "a", is: "b", binary: "c", compiler: "nvcc 13.0" };

Deno.test("SameCode.has() goes from the measured code to the present one", () => {
  const same = new SameCode([PAIR, { ...PAIR, was: "b", is: "d" }]);
  assertStrictEquals(same.has("a", "b"), true);
  assertStrictEquals(same.has("b", "a"), false);
  assertStrictEquals(same.has("a", "d"), false);
});

Deno.test("readSameCode() reads pairs, and refuses a damaged file", async () => {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, JSON.stringify({ same: [PAIR] }));
    assertEquals(readSameCode(path), [PAIR]);
    await Deno.writeTextFile(path, '{ "same": [{ "was": "a" }] }');
    assertThrows(
      () => readSameCode(path),
      UserError,
      `Cannot read ${path}: field same.0.is is missing; restore it`,
    );
  } finally {
    await Deno.remove(path);
  }
  assertEquals(readSameCode(path), []);
});
