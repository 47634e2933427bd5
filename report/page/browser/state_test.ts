import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import {
  filtered,
  formatState,
  INITIAL,
  parseShape,
  parseState,
  type State,
} from "./state.ts";
import { pageDataOf } from "../report.ts";
import { inputOf, row } from "../testdata/rows.ts";
import { bookOf } from "./book.ts";

Deno.test("formatState() says nothing of what is as at first", () => {
  assertStrictEquals(formatState(INITIAL), "");
  assertStrictEquals(formatState({ ...INITIAL, view: "rows" }), "view=rows");
});

Deno.test("parseState() reads back every choice", () => {
  const state: State = {
    suite: "a & b=c",
    device: "GPU #1",
    shape: "k>=16384 16x*",
    status: "failed",
    verdict: "slower",
    hidden: ["x", "y z"],
    baseline: "mine",
    view: "rows",
    sort: "median",
    descending: true,
    page: 3,
    family: "a|b",
    log: true,
    all: true,
  };
  assertEquals(parseState(formatState(state)), state);
});

Deno.test("parseState() takes nonsense for no choice", () => {
  assertEquals(parseState("page=-1&view=cube&log=perhaps&other=1"), INITIAL);
});

const { entries, now } = bookOf(pageDataOf(inputOf([
  row({ m: "16", n: "16", k: "8192", params: "epilogue=relu" }),
  row({ m: "16", n: "32", k: "16384", params: "epilogue=none" }),
  row({
    m: "64",
    n: "64",
    k: "16384",
    kernel: "mine",
    params: "epilogue=relu",
  }),
  row({ m: "8", kernel: "mine", status: "crash", median_us: "" }),
  row({ m: "9", kernel: "mine", status: "unsupported", median_us: "" }),
  row({ m: "10", kernel: "mine", median_us: "4" }),
])));

function shown(patch: Partial<State>): number[] {
  return filtered(entries, { ...INITIAL, ...patch })
    .map((entry) => now.rows.indexOf(entry.now!)).toSorted();
}

Deno.test("parseShape() reads sizes, conditions on any axis, lists and parts of names", () => {
  const cases: readonly (readonly [string, readonly number[]])[] = [
    ["", [0, 1, 2, 3, 4, 5]],
    ["16x16x8192", [0]],
    ["16×*x16384", [1]],
    ["16x*", [0, 1]],
    ["k>=16384", [1, 2]],
    ["K<16384 m>9", [0, 5]],
    ["m=16|64 k=16384", [1, 2]],
    ["relu", [0, 2]],
    ["epilogue=none", [1]],
    ["epilogue=none|relu m>16", [2]],
    ["layout=nn m=9", [4]],
    ["unknown=1", []],
    ["nothing-like-it", []],
  ];
  for (const [text, ids] of cases) {
    assertEquals(shown({ shape: text }), ids, text);
  }
});

Deno.test("parseShape() says what is wrong with a condition, which then hides nothing", () => {
  const parsed = parseShape("k>=lots");
  assert("wrong" in parsed);
  assertMatch(parsed.wrong, /k>=lots.*k>=16384/);
  assertEquals(shown({ shape: "k>=lots" }).length, entries.length);
});

Deno.test("filtered() knows any failure and suspects besides the statuses", () => {
  assertEquals(shown({ status: "failed" }), [3]);
  assertEquals(shown({ status: "unsupported" }), [4]);
  assertEquals(shown({ status: "suspect" }), [5]);
  assertEquals(shown({ hidden: ["mine"], shape: "k=16384" }), [1]);
  assertEquals(shown({ suite: "another" }), []);
});
