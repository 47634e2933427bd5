import { assert, assertEquals, assertThrows } from "@std/assert";
import { ALL } from "./testdata/all.ts";
import { mutate, sample } from "./mutant.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test("each mistake has a text that is in its file once, and tests", () => {
  const flaws = ALL.flatMap((mutant) => {
    assert(mutant.tests.length > 0 && mutant.why !== "", mutant.name);
    try {
      const text = Deno.readTextFileSync(new URL(mutant.file, ROOT));
      for (const path of mutant.tests) Deno.statSync(new URL(path, ROOT));
      assert(mutate(text, mutant) !== text, mutant.name);
      return [];
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return [error.message];
    }
  });
  assertEquals(flaws, []);
});

Deno.test("each mistake is another one, and there are enough of them", () => {
  const texts = ALL.map(({ file, find, replace }) =>
    [file, find, replace].join("\n")
  );
  assertEquals(new Set(texts).size, ALL.length);
  assertEquals(new Set(ALL.map(({ name }) => name)).size, ALL.length);
  assert(ALL.length >= 60, `${ALL.length}`);
});

Deno.test("mutate() refuses a text that is not there, or twice", () => {
  const mutant = { name: "x", file: "a.ts", find: "b", replace: "c" };
  assertEquals(mutate("abd", mutant), "acd");
  for (
    const [text, count] of [["ad", "nowhere"], ["abb", "2 times"]] as const
  ) {
    assertThrows(() => mutate(text, mutant), Error, `"x" ${count}`);
  }
});

Deno.test("sample() takes each once, which ones by the seed alone", () => {
  const all = Array.from({ length: 50 }, (_, i) => i);
  assertEquals(sample(all, 5, 7), sample(all, 5, 7));
  assert(`${sample(all, 5, 7)}` !== `${sample(all, 5, 8)}`);
  assertEquals(sample(all, 99, 1).toSorted((a, b) => a - b), all);
});
