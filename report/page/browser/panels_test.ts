import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { pageDataOf } from "../report.ts";
import { inputOf, row, sweep } from "../testdata/rows.ts";
import { bookOf } from "./entry.ts";
import { panelsOf } from "./panels.ts";

const panels = (rows: Parameters<typeof inputOf>[0]) =>
  panelsOf(bookOf(pageDataOf(inputOf(rows))).entries);

Deno.test("panelsOf() draws over K, a panel for each M and N", () => {
  const found = panels(sweep(["a", "b"], [32, 16]));
  strictEqual(found.axis, "k");
  deepStrictEqual(found.panels.map(({ label }) => label), [
    "M = N = 16",
    "M = N = 32",
  ]);
  deepStrictEqual(found.panels[0]!.sizes, [8192, 16384]);
  deepStrictEqual(
    found.panels[0]!.curves.map((
      { kernel, points },
    ) => [kernel, points.length]),
    [["a", 2], ["b", 2]],
  );
});

Deno.test("panelsOf() draws over M where K is always the same", () => {
  const found = panels([row({ m: "1" }), row({ m: "2" }), row({ m: "4" })]);
  strictEqual(found.axis, "m");
  deepStrictEqual(found.panels.map(({ label }) => label), ["N = 16, K = 8192"]);
});

Deno.test("panelsOf() leaves out what has no time", () => {
  const rows = [row(), row({ k: "1", status: "oom", median_us: "" })];
  deepStrictEqual(panels(rows).panels[0]!.sizes, [16]);
});
