import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { VERDICTS } from "../../diff/verdict.ts";
import { pageDataOf } from "../report.ts";
import { inputOf, row } from "../testdata/rows.ts";
import { bookOf } from "./entry.ts";
import { period, provenance } from "./provenance.ts";
import { moodOf, rankOf } from "./verdicts.ts";

Deno.test("bookOf() says of a shape only what differs within its suite", () => {
  const same = bookOf(pageDataOf(inputOf([row(), row({ k: "1" })])));
  deepStrictEqual(same.entries.map(({ shape }) => shape), [
    "16×16×8192",
    "16×16×1",
  ]);
  const { entries } = bookOf(pageDataOf(inputOf([
    row({ layout: "nn" }),
    row({ layout: "tn" }),
    row({ suite: "another", a_type: "f32" }),
  ])));
  deepStrictEqual(entries.map(({ extra }) => extra), ["nn", "tn", ""]);
});

Deno.test("bookOf() names the backend of a kernel that two have", () => {
  const { kernels } = bookOf(pageDataOf(inputOf([
    row({ kernel: "k", backend: "cuda" }),
    row({ kernel: "k", backend: "cpu" }),
    row({ kernel: "one" }),
  ])));
  deepStrictEqual(kernels, ["k (cuda)", "k (cpu)", "one"]);
});

Deno.test("bookOf() keeps published figures apart from those measured here", () => {
  const { entries } = bookOf(pageDataOf(inputOf([
    row(),
    row({ harness: "published", run: "v3" }),
  ])));
  strictEqual(entries[1]!.device, "Test GPU (published: v3)");
  strictEqual(entries[0]!.problem === entries[1]!.problem, false);
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
  deepStrictEqual(
    entries.map((e) => [e.status, e.k, e.median, e.before, e.verdict, e.why]),
    [
      ["missing", 1, undefined, 10, "missing", ""],
      ["ok", 8192, 11, 10, "slower", "binary changed"],
    ],
  );
});

Deno.test("rankOf() has the order in which diff lists verdicts", () => {
  deepStrictEqual(
    VERDICTS.toSorted((a, b) => rankOf(a) - rankOf(b)),
    [...VERDICTS],
  );
  deepStrictEqual(["broken", "slower", "faster", "same", "?"].map(moodOf), [
    "bad",
    "bad",
    "good",
    "",
    "",
  ]);
});

Deno.test("provenance() says device, time, software and method", () => {
  const book = bookOf(pageDataOf(inputOf([row()])));
  deepStrictEqual(provenance(book), [
    ["Device", "Test GPU, sm_90a"],
    ["Measured", "2026-01-02 03:04 UTC"],
    ["Software", "driver 580.1 · mnkbench 0.1.0"],
    [
      "Method",
      "do_bench · cache cold · flush zero 256 MiB · warm-up 10 ms · sampling 50 ms · fill normal · seed 0",
    ],
  ]);
});

Deno.test("period() names a day once", () => {
  strictEqual(
    period(["2026-01-02T03:09:00.000Z", "2026-01-02T03:04:05.000Z"]),
    "2026-01-02 03:04 to 03:09 UTC",
  );
  strictEqual(
    period(["2026-01-02T03:04:05.000Z", "2026-01-03T03:04:05.000Z"]),
    "2026-01-02 03:04 to 2026-01-03 03:04 UTC",
  );
  strictEqual(period([""]), "");
});
