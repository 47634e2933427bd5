import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { pageDataOf } from "../report.ts";
import { inputOf, row } from "../testdata/rows.ts";
import { bookOf } from "./entry.ts";
import { inOrder, pivotOf } from "./pivot.ts";

const { entries } = bookOf(pageDataOf(inputOf([
  row({ k: "16384", median_us: "12" }),
  row({ k: "16384", kernel: "mine", median_us: "8" }),
  row({ k: "8192", median_us: "10" }),
  row({ k: "8192", kernel: "mine", median_us: "9" }),
  row({ m: "8", kernel: "mine", status: "wrong", median_us: "" }),
])));

function order(sort: string, descending = false): string[] {
  return pivotOf(entries, { sort, descending }).map(({ first }) => first.shape);
}

Deno.test("pivotOf() has a row a shape, by size, with the least time", () => {
  deepStrictEqual(order(""), ["8×16×8192", "16×16×8192", "16×16×16384"]);
  const rows = pivotOf(entries, { sort: "", descending: false });
  deepStrictEqual(rows.map(({ best }) => best), [undefined, 9, 8]);
  deepStrictEqual([...rows[1]!.cells.keys()], ["cublas", "mine"]);
});

Deno.test("pivotOf() sorts by a kernel; shapes without its time come last", () => {
  deepStrictEqual(order("mine"), ["16×16×16384", "16×16×8192", "8×16×8192"]);
  deepStrictEqual(order("mine", true), [
    "16×16×8192",
    "16×16×16384",
    "8×16×8192",
  ]);
  strictEqual(order("shape", true)[0], "16×16×16384");
});

Deno.test("inOrder() puts what has no value last, whatever the direction", () => {
  deepStrictEqual(
    [3, undefined, 1].toSorted((a, b) => inOrder(a, b, true)),
    [3, 1, undefined],
  );
  strictEqual(inOrder(undefined, 1, true), 1);
  strictEqual(inOrder("a", "b", false), -1);
});
