import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { UserError } from "../../bench/model/errors.ts";
import { devices, number, parseAxis, parseSizes, shard } from "./readers.ts";

const RIGHT: readonly (readonly [string, readonly number[]])[] = [
  ["24", [24]],
  ["16,32", [16, 32]],
  ["16, 32", [16, 32]],
  ["32,16,32", [32, 16]],
  ["16:64:16", [16, 32, 48, 64]],
  ["16:63:16", [16, 32, 48]],
  ["16:19", [16, 17, 18, 19]],
  ["5:5", [5]],
  ["1:512:*2", [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]],
  ["3:30:*3,7", [3, 9, 27, 7]],
];

for (const [text, sizes] of RIGHT) {
  Deno.test(`parseSizes() reads ${text}`, () => {
    assertEquals(parseSizes(text), sizes);
  });
}

const WRONG: readonly (readonly [string, RegExp])[] = [
  ["abc", /^abc is not a size/],
  ["", /^An empty item is not a size/],
  ["16,", /^An empty item is not a size/],
  ["0", /^0 is not a size/],
  ["-4", /^-4 is not a size/],
  ["1.5", /^1\.5 is not a size/],
  ["1e3", /^1e3 is not a size/],
  ["0x10", /^0x10 is not a size/],
  ["99999999999999999999", /is not a size/],
  ["64:16", /^64:16 is an empty range/],
  ["1:4:0", /^1:4:0 is not a size/],
  ["1:4:*1", /^1:4:\*1 never ends/],
  ["1:2:3:4", /^1:2:3:4 has too many colons/],
  ["1:", /^1: is not a size/],
  ["1:1000000000", /names more than 10000 sizes/],
];

for (const [text, message] of WRONG) {
  Deno.test(`parseSizes() refuses ${text || "nothing"}`, () => {
    const error = assertThrows(() => parseSizes(text), UserError);
    assertMatch(error.message, message);
  });
}

Deno.test("parseAxis() refuses an empty value, whatever the axis", () => {
  for (const text of ["scale=", "scale=row,", "m=,16"]) {
    const { message } = assertThrows(() => parseAxis(text), UserError);
    assertMatch(message, /^A value of (scale|m) is empty: write NAME=VALUES/);
  }
});

Deno.test("number() refuses what is above its most", () => {
  const { parse } = number("MS", { most: 60, whole: false });
  assertEquals(parse("60"), { success: true, value: 60 });
  const refused = parse("1e308");
  assert(!refused.success);
  assertMatch(
    JSON.stringify(refused.error),
    /1e308 is not a number from 0 to 60/,
  );
});

Deno.test("shard() reads I/N, from 1/N to N/N", () => {
  const read = (text: string) => {
    const parsed = shard().parse(text);
    return parsed.success ? parsed.value : undefined;
  };
  assertEquals(read("1/1"), { index: 1, count: 1 });
  assertEquals(read("16/16"), { index: 16, count: 16 });
  for (
    const text of ["", "0/4", "5/4", "1", "1/0", "-1/4", "1/100000", "a/b"]
  ) {
    assertEquals(read(text), undefined, text);
  }
});

Deno.test("devices() reads an index, several, all and an emulated one", () => {
  const read = (text: string) => {
    const parsed = devices().parse(text);
    return parsed.success ? parsed.value : undefined;
  };
  assertEquals(read("3"), 3);
  assertEquals(read("2-2"), 2);
  assertEquals(read("emulator:sm_90a"), "emulator:sm_90a");
  assertEquals(read("all"), { device: 0, devices: "all" });
  assertEquals(read("0,2-3"), { device: 0, devices: [0, 2, 3] });
  assertEquals(read("3,1,1"), { device: 1, devices: [1, 3] });
  for (const text of ["", "3-1", "-1", "0,", "a", "0..3", "1.5", "al"]) {
    assertEquals(read(text), undefined, text);
  }
});
