import { assertEquals, assertThrows } from "@std/assert";
import { CaseError } from "../model/errors.ts";
import { keyFor } from "../testdata/rows.ts";
import { type LostConfig, lostNote, withoutLost } from "./config_book.ts";

const LEGAL = Array.from({ length: 12 }, (_, i) => ({ config: { AT: i } }));
const KEY = keyFor("k");

function loss(
  at: number,
  changes: Partial<LostConfig> & { m?: string } = {},
): LostConfig {
  const { m = KEY.m, ...others } = changes;
  return {
    key: { ...KEY, m },
    config: `AT=${at}`,
    status: "crash",
    note: "killed",
    ...others,
  };
}

const left = (lost: readonly LostConfig[], key = KEY) =>
  withoutLost(LEGAL, key, lost).left.map(({ config }) => config.AT);
const ALL = left([]);

Deno.test("withoutLost() leaves out what the case lost, and nothing else", () => {
  const lost = [loss(3), loss(5)];
  assertEquals(left(lost), ALL.filter((at) => at !== 3 && at !== 5));
  assertEquals(withoutLost(LEGAL, KEY, lost).lost, lost);
  assertEquals(left([loss(3, { config: "AT=99" })]), ALL);
});

Deno.test("withoutLost() tries a config of another shape again, until it was lost at two", () => {
  const here = { ...KEY, m: "9" };
  assertEquals(left([loss(3)], here), ALL);
  const twice = [loss(3), loss(3, { m: "2" })];
  assertEquals(left(twice, here), ALL.filter((at) => at !== 3));
  assertEquals(left(twice, { ...here, suite: "other" }).includes(3), false);
  assertEquals(left(twice, { ...here, kernel: "other" }), ALL);
  assertEquals(left(twice, { ...here, a_type: "other" }), ALL);
  assertEquals(left([loss(3), loss(3)], here), ALL);
});

Deno.test("withoutLost() keeps to what was timed before, once too much was lost", () => {
  const hung = [1, 4, 6].map((at) => loss(at, { status: "timeout" }));
  assertEquals(left(hung.slice(0, 2)).at(-1), 11);
  assertEquals(left(hung), [0, 2, 3, 5]);
  const dead = [1, 2, 3, 4, 5, 6, 7, 8].map((at) => loss(at));
  assertEquals(left(dead.slice(0, 7)), [0, 8, 9, 10, 11]);
  assertEquals(left(dead), [0]);
});

Deno.test("withoutLost() fails as the last config did where none is left", () => {
  const lost = [0, 1, 2].map((at) =>
    loss(at, { status: "timeout", note: "silent" })
  );
  const { failure, message } = assertThrows(() => left(lost), CaseError);
  assertEquals([failure, message], [
    "timeout",
    "No config is left to search: AT=0, AT=1, AT=2 (timeout: silent)",
  ]);
});

Deno.test("lostNote() says each reason once", () => {
  assertEquals(lostNote([]), "");
  assertEquals(
    lostNote([loss(1), loss(2, { status: "launch", note: "no" }), loss(3)]),
    "left out AT=1, AT=3 (crash: killed), AT=2 (launch: no)",
  );
});
