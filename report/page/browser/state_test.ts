import { assertEquals, assertStrictEquals } from "@std/assert";
import { formatState, INITIAL, parseState, type State } from "./state.ts";

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
  };
  assertEquals(parseState(formatState(state)), state);
});

Deno.test("parseState() takes nonsense for no choice", () => {
  assertEquals(parseState("page=-1&view=cube&log=perhaps&other=1"), INITIAL);
});
