import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { pageDataOf } from "../report.ts";
import { inputOf, row, sweep } from "../testdata/rows.ts";
import { Comparison, standings } from "./compare.ts";
import { bookOf } from "./entry.ts";

const ROWS = sweep(["cublas", "mine", "other"], [16, 32]);
const entriesOf = (rows = ROWS) => bookOf(pageDataOf(inputOf(rows))).entries;

Deno.test("Comparison.speedup() is relative to the same problem", () => {
  const entries = entriesOf();
  const comparison = new Comparison(entries, () => ["cublas"]);
  deepStrictEqual(
    entries.slice(0, 6).map((entry) => comparison.speedup(entry)),
    [1, 20 / 15, 2, 1, 22 / 17, 22 / 12],
  );
});

Deno.test("Comparison takes the first baseline that has a time in the suite", () => {
  const rows = [
    row({ kernel: "cublas", status: "wrong", median_us: "" }),
    row({ kernel: "naive", median_us: "40" }),
    row({ kernel: "mine", median_us: "10" }),
  ];
  const entries = entriesOf(rows);
  const comparison = new Comparison(entries, () => ["cublas", "naive"]);
  strictEqual(comparison.baseline(entries[2]!), "naive");
  strictEqual(comparison.speedup(entries[2]!), 4);
  strictEqual(comparison.speedup(entries[0]!), undefined);
});

Deno.test("Comparison never sets one device against another", () => {
  const rows = [
    row({ kernel: "cublas" }),
    row({ kernel: "mine", device: "Other GPU" }),
  ];
  const entries = entriesOf(rows);
  const comparison = new Comparison(entries, () => ["cublas"]);
  strictEqual(comparison.speedup(entries[1]!), undefined);
});

Deno.test("standings() counts wins, ties, losses and where a kernel is fastest", () => {
  const rows = [
    ...[["1", "10", "8"], ["2", "10", "10"], ["3", "10", "12"]].flatMap((
      [k, base, mine],
    ) => [
      row({ k: k!, median_us: base! }),
      row({ k: k!, kernel: "mine", median_us: mine! }),
    ]),
    row({ k: "4" }),
    row({ k: "4", kernel: "mine", status: "crash", median_us: "" }),
    row({ k: "5", kernel: "mine", status: "unsupported", median_us: "" }),
  ];
  const entries = entriesOf(rows);
  const comparison = new Comparison(entries, () => ["cublas"]);
  const mine = standings(entries, comparison)[1]!;
  deepStrictEqual(
    {
      ...mine,
      geomean: Math.round(mine.geomean! * 1e6) / 1e6,
    },
    {
      kernel: "mine",
      rows: 5,
      failed: 1,
      unsupported: 1,
      suspect: 0,
      fastest: 2,
      compared: 3,
      wins: 1,
      ties: 1,
      losses: 1,
      geomean: Math.round(Math.cbrt(10 / 8 * 10 / 12) * 1e6) / 1e6,
      least: 10 / 12,
      median: 1,
      greatest: 10 / 8,
    },
  );
});

Deno.test("standings() leaves out what is above SOL, and counts it", () => {
  const rows = [
    row(),
    row({ kernel: "mine", median_us: "4", sol_us: "5" }),
    row({ kernel: "warm", median_us: "4", sol_us: "5", cache: "warm" }),
  ];
  const entries = entriesOf(rows);
  const [base, mine, warm] = standings(
    entries,
    new Comparison(entries, () => ["cublas"]),
  );
  deepStrictEqual([mine!.suspect, mine!.compared, mine!.fastest], [1, 0, 0]);
  deepStrictEqual([base!.fastest, warm!.fastest, warm!.suspect], [0, 1, 0]);
});
