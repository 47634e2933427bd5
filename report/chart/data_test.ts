import { assertEquals, assertStrictEquals } from "@std/assert";
import { csvRow } from "../testdata/csv_rows.ts";
import { failedRow, rowAt } from "../testdata/plot_rows.ts";
import {
  chartData,
  ranked,
  shapeNames,
  statusOf,
  suspectNote,
} from "./data.ts";
import { plots } from "./mod.ts";
import { panelsOf } from "./panels.ts";

const LIGHT = { theme: "light" } as const;

Deno.test("chartData() takes the first baseline with a time, of the chosen kernels if there is one", () => {
  const rows = [
    failedRow(rowAt("cublas", [16, 512, 3]), "unsupported"),
    rowAt("mine", [16, 512, 4]),
    rowAt("naive", [16, 512, 8]),
  ];
  const baselineOf = (
    baselines: string[],
    more: { baseline?: string; only?: string[] } = {},
  ) => chartData(rows, { ...LIGHT, baselines, ...more }).pivot.baseline;
  assertStrictEquals(baselineOf(["cublas", "naive"]), "naive");
  assertStrictEquals(baselineOf(["cublas"]), undefined);
  assertStrictEquals(baselineOf(["naive"], { baseline: "mine" }), "mine");
  const both = ["naive", "mine"];
  assertStrictEquals(baselineOf(both, { only: ["cublas", "mine"] }), "mine");
  assertStrictEquals(baselineOf(both, { only: ["cublas"] }), "naive");
  assertStrictEquals(
    chartData(rows.slice(0, 1), LIGHT).pivot.baseline,
    undefined,
  );
});

Deno.test("statusOf() says why there is no time", () => {
  const data = chartData([
    rowAt("a", [16, 512, 3]),
    failedRow(rowAt("b", [16, 512, 3]), "crash"),
    rowAt("c", [32, 512, 3]),
  ], LIGHT);
  const { rows } = data.pivot.shapes[0]!;
  assertEquals(
    ["b", "c"].map((kernel) => statusOf(rows.get(kernel))),
    ["crash", "no row"],
  );
});

Deno.test("ranked() and suspectNote() leave out what is above SOL", () => {
  const row = (kernel: string, median_us: string) =>
    csvRow({ kernel, median_us, sol_us: "5" });
  const data = chartData([row("cublas", "12"), row("mine", "4")], LIGHT);
  const [shape] = data.pivot.shapes;
  assertEquals(ranked(shape!, data.kernels), [{ kernel: "cublas", us: 12 }]);
  assertStrictEquals(suspectNote(data), "; 1 suspect left out");
});

Deno.test("shapeNames() has the sizes alone where they tell shapes apart", () => {
  const names = (...labels: string[]) =>
    shapeNames(labels.map((label) => ({ label })));
  assertEquals(names("1×2×3 nt", "1×2×4 nn"), ["1×2×3", "1×2×4"]);
  assertEquals(names("1×2×3 nt", "1×2×3 nn"), ["1×2×3 nt", "1×2×3 nn"]);
});

/** Panels of points whose axes are `names`. */
function panels(names: string, ...values: string[]) {
  const keys = names.split(" ");
  const items = values.map((text) => {
    const own = text.split(" ");
    return { point: Object.fromEntries(keys.map((key, i) => [key, own[i]!])) };
  });
  const { axis, panels } = panelsOf(items);
  return [
    axis,
    ...panels.map(({ label, items }) => `${label}: ${items.length}`),
  ];
}

Deno.test("panelsOf() goes along the numeric axis with most values, then fewest panels", () => {
  assertEquals(
    panels("m n k", "16 16 1", "32 32 1", "16 16 2"),
    ["k", "M=N=16: 2", "M=N=32: 1"],
  );
  assertEquals(
    panels("m n k", "1 512 64", "2 512 64", "4 512 64", "1 256 64"),
    ["m", "N=256: 1", "N=512: 3"],
  );
  assertEquals(
    panels("mode bits k", "affine 4 8", "affine 2 8", "affine 3 8"),
    ["bits", "K=8: 3"],
  );
});

Deno.test("panelsOf() has one panel where no two points differ on one axis alone", () => {
  assertEquals(panels("m n", "1 2", "3 4"), [undefined, ": 2"]);
  assertEquals(panels("mode", "a", "b"), [undefined, ": 2"]);
  assertEquals(panels("mode"), [undefined]);
});

Deno.test("plots say why they draw nothing of rows without a time", () => {
  const data = chartData(
    [failedRow(rowAt("a", [16, 512, 3]), "compile")],
    LIGHT,
  );
  for (const [name, plot] of Object.entries(plots)) {
    const said = plot(data);
    assertStrictEquals(
      typeof said === "string" || said.length === 0,
      true,
      name,
    );
  }
});
