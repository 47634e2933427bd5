import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { keyOf, keyText } from "../bench/row.ts";
import { suites } from "./mod.ts";

Deno.test("suites lists every file of the folder once, in its name", () => {
  const files = [...Deno.readDirSync(new URL(".", import.meta.url))]
    .map(({ name }) => name)
    .filter((name) => name.endsWith(".ts") && !name.endsWith("_test.ts"))
    .filter((name) => name !== "mod.ts");
  deepStrictEqual(
    suites.map(({ name }) => `${name}.ts`).toSorted(),
    files.toSorted(),
  );
});

for (const suite of suites) {
  Deno.test(`suites: ${suite.name} has 28 square shapes and distinct keys`, () => {
    const cases = [...suite.cases("all")];
    strictEqual(cases.length, 28 * suite.kernels.length);
    strictEqual(
      new Set(cases.map((c) => keyText(keyOf(c)))).size,
      cases.length,
    );
    for (const { problem } of cases) {
      strictEqual(problem.key.m, problem.key.n);
    }
  });

  Deno.test(`suites: ${suite.name} has each baseline among its kernels`, () => {
    const names = suite.kernels.map(({ name }) => name);
    deepStrictEqual(
      suite.baselines.filter((name) => !names.includes(name)),
      [],
    );
  });
}
