import { assert, assertStrictEquals } from "@std/assert";
import { BUNDLE, bundlePage } from "./page_bundle.ts";

const committed = await Deno.readTextFile(
  new URL(`../${BUNDLE}`, import.meta.url),
);

Deno.test("the page's bundle is that of its modules (else: deno task bundle)", async () => {
  assertStrictEquals(await bundlePage(), committed);
});

Deno.test("the page's bundle is a script that stays inside its element", () => {
  // Compiles it; the page runs it in tests with a browser.
  assertStrictEquals(typeof new Function(committed), "function");
  assert(!committed.includes("</script"));
});
