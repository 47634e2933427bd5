import { assert, assertEquals } from "@std/assert";
import { widthOf } from "../../bench/files/terminal_text.ts";
import { readCsv } from "../../bench/row/read_csv.ts";
import { type Pivot, pivots } from "../model/pivot.ts";
import { ofOneTiming } from "../model/timing.ts";
import { formatMarkdown, formatText } from "./sheet.ts";
import { type Shown, tableSheet } from "./table.ts";

const RESULTS = new URL("../../results/nvidia-h200/", import.meta.url);

function recorded(suite: string): Pivot[] {
  const file = new URL(`${suite}.csv`, RESULTS);
  const rows = readCsv(Deno.readTextFileSync(file), file.pathname);
  return pivots(ofOneTiming(rows, (row) => row, {}), {
    baselines: () => ["cublas", "cublaslt", "per-group", "cublaslt-tuned"],
  });
}

function textOf(table: Pivot, width: number, shown?: Shown): string[] {
  return formatText(tableSheet(table, shown), { width, color: false });
}

const SUITES = [...Deno.readDirSync(RESULTS)].map(({ name }) => name)
  .filter((name) => name.endsWith(".csv"))
  .map((name) => name.replace(".csv", ""));

const GOLDEN = new URL("testdata/tables.txt", import.meta.url);

Deno.test("recorded tables fit 80 and 120 columns as they did before", () => {
  const text = ["router-bf16", "grouped-nvfp4", "mlx-qmm"].flatMap((suite) =>
    recorded(suite).flatMap((table) =>
      [80, 120].flatMap((width) => [
        `== ${suite} in ${width} columns`,
        // The last of the many shapes of mlx-qmm show as much as all.
        ...textOf(table, width).slice(0, 4),
        ...textOf(table, width).slice(4).slice(-20),
        "",
      ])
    )
  ).join("\n");
  // After results are recorded anew: UPDATE=1 deno test -A report/table/sheet_test.ts
  if (Deno.env.get("UPDATE")) Deno.writeTextFileSync(GOLDEN, text);
  assertEquals(text, Deno.readTextFileSync(GOLDEN));
});

for (const suite of SUITES) {
  Deno.test(`the table of ${suite} fits terminals, and none loses a shape`, () => {
    for (const table of recorded(suite)) {
      for (const width of [10, 60, 80, 120, 200, Infinity]) {
        const lines = textOf(table, width);
        const text = lines.join("\n");
        if (width >= 60) {
          assertEquals(lines.filter((line) => widthOf(line) > width), []);
        }
        assert(text.includes(`${table.baseline}`), text);
        for (const { label } of table.shapes) {
          for (const word of label.split(" ")) {
            assert(text.includes(word), label);
          }
        }
      }
    }
  });
}

Deno.test("a pipe, --all and --top have every kernel that was asked for", () => {
  const [table] = recorded("router-bf16");
  const heads = (width: number, shown?: Shown) =>
    textOf(table!, width, shown).filter((line) => line.startsWith("median"))
      .flatMap((line) => line.split(/  +/).slice(1));
  const whole = heads(Infinity);
  assert(whole.length > 15 && !whole.includes("torch-custom-op-mm-relu"));
  const { head } = tableSheet(table!);
  assertEquals(whole, head.slice(1));
  const all = textOf(table!, 80, { all: true }).join("\n");
  for (const name of whole) assert(all.includes(name.split(/[- ]/)[0]!), name);
  assertEquals(all.includes("do not fit"), false);
  assertEquals(heads(Infinity, { top: 3 }).length, 4);
});

Deno.test("baseline, the best peer and the best of ours come first", () => {
  const [table] = recorded("router-bf16");
  const { head } = tableSheet(table!, { top: 3 });
  const fastest = (peer: boolean) => {
    const names = table!.contenders.filter((c) =>
      c.peer === peer && c.name !== table!.baseline
    ).map(({ name }) => name);
    const wins = table!.shapes.map(({ rows }) =>
      names.toSorted((a, b) =>
        Number(rows.get(a)?.median_us || Infinity) -
        Number(rows.get(b)?.median_us || Infinity)
      )[0]!
    );
    const counts = [...Map.groupBy(wins, (name) => name)]
      .toSorted(([, a], [, b]) => b.length - a.length);
    return counts[0]![0];
  };
  assertEquals(head, [
    "median µs",
    "cublas",
    fastest(true),
    fastest(false),
    "ours vs best peer",
  ]);
});

Deno.test("formatText() repeats both labels of lines in each block", () => {
  const cells = (...texts: string[]) => texts.map((text) => ({ text }));
  const sheet = {
    title: "t",
    labels: 2,
    head: ["shape", "kernel", "first", "second"],
    body: [cells("1×1×1", "a", "1.5", "22"), cells("1×1×1", "bb", "3", "4")],
    foot: [],
    notes: [],
  };
  assertEquals(formatText(sheet, { width: 22, color: false }), [
    "t",
    "shape  kernel  first",
    "1×1×1  a         1.5",
    "1×1×1  bb          3",
    "",
    "shape  kernel  second",
    "1×1×1  a           22",
    "1×1×1  bb           4",
  ]);
  assertEquals(formatMarkdown(sheet).slice(2, 4), [
    "| shape | kernel | first | second |",
    "| --- | --- | ---: | ---: |",
  ]);
});
