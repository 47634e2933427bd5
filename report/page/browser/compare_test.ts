import { assertEquals, assertStrictEquals } from "@std/assert";
import { pageDataOf } from "../report.ts";
import { inputOf, row, sweep } from "../testdata/rows.ts";
import { bookOf } from "./book.ts";
import { baselinesOf, compareSides, speedupOf, standings } from "./compare.ts";

const ROWS = sweep(["cublas", "mine", "other"], [16, 32]);
const entriesOf = (rows = ROWS) => bookOf(pageDataOf(inputOf(rows))).entries;

Deno.test("speedupOf() is relative to the same problem", () => {
  const entries = entriesOf();
  const baseline = baselinesOf({ entries }, () => ["cublas"]);
  assertEquals(
    entries.slice(0, 6).map((entry) => speedupOf(entry, baseline)),
    [1, 20 / 15, 2, 1, 22 / 17, 22 / 12],
  );
});

Deno.test("baselinesOf() takes the first baseline that has a time in the suite", () => {
  const rows = [
    row({ kernel: "cublas", status: "wrong", median_us: "" }),
    row({ kernel: "naive", median_us: "40" }),
    row({ kernel: "mine", median_us: "10" }),
  ];
  const entries = entriesOf(rows);
  const baseline = baselinesOf({ entries }, () => ["cublas", "naive"]);
  assertStrictEquals(baseline(entries[2]!.pivot), "naive");
  assertStrictEquals(speedupOf(entries[2]!, baseline), 4);
  assertStrictEquals(speedupOf(entries[0]!, baseline), undefined);
});

Deno.test("baselinesOf() never sets one device against another", () => {
  const rows = [
    row({ kernel: "cublas" }),
    row({ kernel: "mine", device: "Other GPU" }),
  ];
  const entries = entriesOf(rows);
  const baseline = baselinesOf({ entries }, () => ["cublas"]);
  assertStrictEquals(speedupOf(entries[1]!, baseline), undefined);
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
  const baseline = baselinesOf({ entries }, () => ["cublas"]);
  const [mine] = standings(entries, baseline);
  assertEquals({ ...mine, geomean: mine!.geomean!.toFixed(6) }, {
    kernel: "mine",
    against: "cublas",
    failed: 1,
    missing: 2,
    suspect: 0,
    fastest: 2,
    wins: 1,
    ties: 1,
    losses: 1,
    geomean: Math.cbrt(10 / 8 * 10 / 12).toFixed(6),
    min: 10 / 12,
    median: 1,
    max: 10 / 8,
  });
});

Deno.test("standings() leaves out what is above SOL, and counts it", () => {
  const rows = [
    row(),
    row({ kernel: "mine", median_us: "4", sol_us: "5" }),
    row({ median_us: "6", cache: "warm" }),
    row({ kernel: "warm", median_us: "4", sol_us: "5", cache: "warm" }),
  ];
  const entries = entriesOf(rows);
  const found = new Map(
    standings(entries, baselinesOf({ entries }, () => ["cublas"]))
      .map((one) => [one.kernel, [one.suspect, one.fastest, one.geomean]]),
  );
  assertEquals(found.get("mine"), [1, 0, undefined]);
  assertEquals(found.get("cublas"), [0, 1, 1]);
  // Of another cache, and so in a table of its own.
  assertEquals(found.get("warm"), [0, 1, 1.5]);
});

Deno.test("compareSides() sets the fastest of our own against the fastest of the rivals", () => {
  const entries = entriesOf();
  const baseline = baselinesOf({ entries }, () => ["cublas"]);
  const rounded = (rivals: readonly string[], some = entries) => {
    const duel = compareSides(some, baseline, rivals);
    return duel &&
      { ...duel, factors: duel.factors.map((one) => one.toFixed(2)) };
  };
  assertEquals(rounded(["cublas", "other", "absent"]), {
    own: ["mine"],
    others: ["cublas", "other"],
    factors: ["0.67", "0.71", "0.74", "0.76"],
  });
  assertEquals(rounded(["cublas"])?.own, ["mine", "other"]);
  assertEquals(rounded(["cublas"])?.factors[0], "2.00");
  // Where all are rivals, the best is set against the baseline.
  assertEquals(rounded(["cublas", "mine", "other"])?.own, ["other"]);
  assertEquals(rounded(["cublas", "mine", "other"])?.others, ["cublas"]);
  const slow = baselinesOf({ entries }, () => ["other"]);
  const { own, others } = compareSides(entries, slow, [
    "cublas",
    "mine",
    "other",
  ])!;
  assertEquals([own, others], [["other"], ["mine"]]);
  assertStrictEquals(rounded([]), undefined);
  const alone = entriesOf([row({ kernel: "mine" })]);
  assertStrictEquals(rounded([], alone), undefined);
});

Deno.test("compareSides() leaves out what is above SOL", () => {
  const entries = entriesOf([
    row(),
    row({ kernel: "mine", median_us: "4", sol_us: "5" }),
  ]);
  const baseline = baselinesOf({ entries }, () => ["cublas"]);
  assertStrictEquals(compareSides(entries, baseline, ["cublas"]), undefined);
});
