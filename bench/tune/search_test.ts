import { assertEquals, assertRejects } from "@std/assert";
import { CaseError } from "../model/errors.ts";
import { searchAhead } from "./search.ts";

const CASE = {
  suite: "s",
  kernel: "mine",
  backend: "cuda",
  problem: { op: "matmul", key: {} },
};

/** What `searchAhead()` keeps of a case with this part; its context has no more. */
async function keptOf(part: object): Promise<unknown[]> {
  const kept: unknown[] = [];
  const configs = { keep: (_: unknown, what: unknown) => kept.push(what) };
  const device = { info: {} };
  const one = Object.create(part, Object.getOwnPropertyDescriptors(CASE));
  await searchAhead(one, { configs, device } as never);
  return kept;
}

Deno.test("searchAhead() keeps what a kernel throws for its case", async () => {
  const [error, ...more] = await keptOf({
    unsupported() {
      throw new TypeError("mine");
    },
  });
  assertEquals((error as CaseError).failure, "launch");
  assertEquals(more, []);
});

Deno.test("searchAhead() hides no error of the program", async () => {
  const broken = {
    get follows() {
      throw new RangeError("ours");
    },
  };
  await assertRejects(() => keptOf(broken), RangeError, "ours");
});
