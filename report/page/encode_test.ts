import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { COLUMNS } from "../../bench/row/row.ts";
import { encodeColumn, encodeRun, QUANTILES } from "./encode.ts";
import { Table } from "./browser/table.ts";
import { row, sweep } from "./testdata/rows.ts";

Deno.test("encodeColumn() says one value once, few by number, many as they are", () => {
  deepStrictEqual(encodeColumn(["a", "a"]), { one: "a" });
  deepStrictEqual(encodeColumn(["a", "b", "a", "a", "b"]), {
    words: ["a", "b"],
    at: [0, 1, 0, 0, 1],
  });
  deepStrictEqual(encodeColumn(["1.5", "x", "1e5", "007", "NaN"]), {
    cells: [1.5, "x", "1e5", "007", "NaN"],
  });
  deepStrictEqual(encodeColumn([]), { one: "" });
});

Deno.test("encodeRun() loses no field of any row", () => {
  const rows = [
    ...sweep(["a", "b"], [16, 32]),
    row({ note: `"quoted", </script>\nline`, median_us: "0.1", m: "0016" }),
    row({ status: "wrong", median_us: "", max_abs_err: "NaN" }),
  ];
  const run = { label: "x", rows, samples: () => undefined };
  const table = new Table(
    JSON.parse(JSON.stringify(encodeRun(run, { all: false }))),
  );
  deepStrictEqual(
    rows.map((_, i) => COLUMNS.map((column) => table.text(column, i))),
    rows.map((fields) => COLUMNS.map((column) => fields[column])),
  );
});

Deno.test("encodeRun() keeps 16 quantiles, or every sample in its order", () => {
  const samples = Array.from({ length: 100 }, (_, i) => 1000 + (i * 37) % 100);
  const run = {
    label: "x",
    rows: [row(), row({ k: "9" })],
    samples: (at: number) => at === 0 ? samples : undefined,
  };
  const few = new Table(encodeRun(run, { all: false }));
  const quantiles = few.quantiles(0)!;
  strictEqual(quantiles.length, QUANTILES);
  deepStrictEqual([quantiles[0], quantiles.at(-1)], [1, 1.099]);
  ok(quantiles.every((q, i) => i === 0 || q >= quantiles[i - 1]!));
  deepStrictEqual([few.quantiles(1), few.samples(0)], [undefined, undefined]);
  const all = new Table(encodeRun(run, { all: true }));
  deepStrictEqual(all.samples(0), samples.map((ns) => ns / 1000));
});
