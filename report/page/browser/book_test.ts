import { assertEquals, assertStrictEquals } from "@std/assert";
import { COLUMNS } from "../../../bench/row/row.ts";
import { VERDICTS } from "../../diff/verdict.ts";
import { formatReport, pageDataOf } from "../report.ts";
import { inputOf, row, sweep } from "../testdata/rows.ts";
import { bookOf, readPageData } from "./book.ts";
import { moodOf, rankOf } from "./text.ts";
import { linesOf } from "./views/pivot_view.ts";
import { period, provenance } from "./views/summary_view.ts";
import { inOrder } from "./views/view.ts";

Deno.test("readPageData() loses no field of any row", async () => {
  const rows = [
    ...sweep(["a", "b"], [16, 32]),
    row({ note: `"quoted", </script>\nline`, median_us: "0.1", m: "0016" }),
    row({ k: "1", status: "wrong", median_us: "", max_abs_err: "NaN" }),
  ];
  const html = formatReport(inputOf(rows));
  const text = /id="data">([^<]*)</.exec(html)![1]!;
  const { now } = bookOf(await readPageData(text));
  assertEquals(
    now.rows.map((fields) => COLUMNS.map((column) => fields[column])),
    rows.map((fields) => COLUMNS.map((column) => fields[column])),
  );
});

Deno.test("bookOf() has 16 quantiles of a row", () => {
  const samples = Array.from({ length: 100 }, (_, i) => 1000 + (i * 37) % 100);
  const now = {
    label: "x",
    rows: [row(), row({ k: "9" })],
    samples: (at: number) => at === 0 ? samples : undefined,
  };
  const run = bookOf(pageDataOf(inputOf([], { now }))).now;
  const [quantiles, none] = run.rows.map((one) => run.seriesOf(one));
  assertStrictEquals(none, undefined);
  assertEquals(
    [quantiles!.length, quantiles![0], quantiles!.at(-1)],
    [16, 1, 1.099],
  );
  assertEquals(quantiles!.toSorted((a, b) => a - b), quantiles);
});

Deno.test("bookOf() says of a shape only what differs within its suite", () => {
  const same = bookOf(pageDataOf(inputOf([row(), row({ k: "1" })])));
  assertEquals(same.entries.map(({ shape }) => shape.label), [
    "16×16×1",
    "16×16×8192",
  ]);
  const { entries } = bookOf(pageDataOf(inputOf([
    row({ layout: "nn" }),
    row({ layout: "tn" }),
    row({ suite: "another", a_type: "f32" }),
  ])));
  assertEquals(
    entries.map(({ shape }) => shape.label),
    ["16×16×8192 nn", "16×16×8192 tn", "16×16×8192"],
  );
});

Deno.test("bookOf() names the backend of a kernel that two have", () => {
  const { kernels } = bookOf(pageDataOf(inputOf([
    row({ kernel: "k", backend: "cuda" }),
    row({ kernel: "k", backend: "cpu" }),
    row({ kernel: "one" }),
  ])));
  assertEquals(kernels, ["k (cuda)", "k (cpu)", "one"]);
});

Deno.test("bookOf() keeps published figures apart from those measured here", () => {
  const { entries } = bookOf(pageDataOf(inputOf([
    row(),
    row({ harness: "published", run: "v3" }),
  ])));
  assertStrictEquals(entries[1]!.device, "Test GPU (published: v3)");
  assertStrictEquals(entries[0]!.shape === entries[1]!.shape, false);
});

Deno.test("bookOf() pairs rows of two runs, and shows what only one has", () => {
  const { entries } = bookOf(pageDataOf(inputOf([row({ median_us: "11" })], {
    against: {
      base: {
        label: "old",
        rows: [row({ k: "1" }), row({ median_us: "10" })],
        samples: () => undefined,
      },
      outcomes: [
        { base: 0, verdict: "missing", why: "" },
        { now: 0, base: 1, verdict: "slower", why: "binary changed" },
      ],
    },
  })));
  assertEquals(
    entries.map((e) => [
      ...[e.status, e.shape.point.k, e.median],
      ...[e.before, e.verdict, e.why],
    ]),
    [
      ["missing", "1", undefined, 10, "missing", ""],
      ["ok", "8192", 11, 10, "slower", "binary changed"],
    ],
  );
});

Deno.test("rankOf() has the order in which diff lists verdicts", () => {
  assertEquals(
    VERDICTS.toSorted((a, b) => rankOf(a) - rankOf(b)),
    [...VERDICTS],
  );
  assertEquals(["broken", "slower", "faster", "same", "?"].map(moodOf), [
    "bad",
    "bad",
    "good",
    "",
    "",
  ]);
});

Deno.test("provenance() says device, time, software and method", () => {
  const book = bookOf(pageDataOf(inputOf([row({ commit: "0123456789ab" })])));
  assertEquals(provenance(book), [
    ["Device", "Test GPU, sm_90a"],
    ["Measured", "2026-01-02 03:04 UTC"],
    ["Software", "driver 580.1 · mnkbench 0.1.0 · commit 0123456789ab"],
    [
      "Method",
      "do_bench · cache cold · flush zero 256 MiB · warm-up 10 ms · sampling 50 ms · fill normal · seed 0",
    ],
  ]);
});

Deno.test("period() names a day once", () => {
  assertStrictEquals(
    period(["2026-01-02T03:09:00.000Z", "2026-01-02T03:04:05.000Z"]),
    "2026-01-02 03:04 to 03:09 UTC",
  );
  assertStrictEquals(
    period(["2026-01-02T03:04:05.000Z", "2026-01-03T03:04:05.000Z"]),
    "2026-01-02 03:04 to 2026-01-03 03:04 UTC",
  );
  assertStrictEquals(period([""]), "");
});

Deno.test("linesOf() has a line a shape, in the book's order or by a kernel", () => {
  const { entries } = bookOf(pageDataOf(inputOf([
    row({ k: "16384", median_us: "12" }),
    row({ k: "16384", kernel: "mine", median_us: "8" }),
    row({ k: "8192", median_us: "10" }),
    row({ k: "8192", kernel: "mine", median_us: "9" }),
    row({ m: "8", kernel: "mine", status: "wrong", median_us: "" }),
  ])));
  const order = (sort: string, descending = false) =>
    linesOf(entries, { sort, descending }).map(({ first }) =>
      first.shape.label
    );
  const [small, middle, large] = ["8×16×8192", "16×16×8192", "16×16×16384"];
  assertEquals(order(""), [small, middle, large]);
  assertEquals(order("shape", true), [large, middle, small]);
  // Shapes without a time of the kernel come last, whatever the direction.
  assertEquals(order("mine"), [large, middle, small]);
  assertEquals(order("mine", true), [middle, large, small]);
  const lines = linesOf(entries, { sort: "", descending: false });
  assertEquals(lines.map(({ best }) => best), [undefined, 9, 8]);
  assertEquals([...lines[1]!.cells.keys()], ["cublas", "mine"]);
});

Deno.test("inOrder() puts what has no value last, whatever the direction", () => {
  assertEquals(
    [3, undefined, 1].toSorted((a, b) => inOrder(a, b, true)),
    [3, 1, undefined],
  );
  assertStrictEquals(inOrder(undefined, 1, true), 1);
  assertStrictEquals(inOrder("a", "b", false), -1);
});
