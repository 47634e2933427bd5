import {
  assert,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import { number, object, strictObject, unknown } from "valibot";
import {
  canonicalJson,
  isSealed,
  parseJson,
  revive,
  seal,
  shownJson,
  spell,
} from "./json_file.ts";

Deno.test("shownJson() rounds what no clock can tell, and keeps whole numbers", () => {
  const shown = { us: 286.41000000004624, bytes: 123456789012345, kernel: "a" };
  assertEquals(
    shownJson(shown),
    '{"us":286.41,"bytes":123456789012345,"kernel":"a"}',
  );
});

Deno.test("canonicalJson() sorts keys at every depth and keeps the order of lists", () => {
  assertEquals(
    canonicalJson({ b: [{ d: null, c: "x" }, 2, 1], a: undefined, A: 1 }),
    '{"A":1,"b":[{"c":"x","d":null},2,1]}',
  );
  assertNotEquals(canonicalJson([1, 2]), canonicalJson([2, 1]));
});

Deno.test("seal() gives what isSealed() knows again, in any order and also of NaN", () => {
  const sealed = seal({ b: [1.5, NaN], a: { c: "x", d: undefined } });
  const read = JSON.parse(JSON.stringify(sealed, spell), revive);
  const { sum, a, b } = read;
  assert(isSealed(read) && isSealed({ sum, a, b }));
  const others = [{ a, b }, { sum, a }, { ...read, x: 1 }, {
    ...read,
    b: [1.5, 0],
  }];
  for (const other of others) assert(!isSealed(other), JSON.stringify(other));
});

Deno.test("parseJson() refuses what is nested more deeply than the stack", () => {
  const deep = `{"a":${"[".repeat(1e6)}${"]".repeat(1e6)}}`;
  const parse = () => parseJson(object({ a: unknown() }), deep, Error);
  assertThrows(parse, Error, "it is nested too deeply");
});

Deno.test("parseJson() shortens what it names", () => {
  const long = "x".repeat(1e6);
  for (const text of [`{"a":"${long}"}`, `{"a":1,"${long}":1}`]) {
    const { message } = assertThrows(
      () => parseJson(strictObject({ a: number() }), text, Error),
      Error,
    );
    assert(message.length < 300, message.slice(0, 400));
  }
});
