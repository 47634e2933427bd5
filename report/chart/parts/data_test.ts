import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { failedRow, rowAt } from "../../testdata/plot_rows.ts";
import { plotData, shapeLabel, speedupOf, statusOf } from "./data.ts";
import { sweepOf } from "./groups.ts";
import { plots } from "../mod.ts";

const LIGHT = { theme: "light" } as const;

Deno.test("plotData() sorts shapes by number and keeps kernels as they come", () => {
  const { shapes, kernels } = plotData([
    rowAt("z", [128, 512, 3]),
    rowAt("z", [16, 4096, 3]),
    rowAt("a", [16, 512, 3]),
  ], LIGHT);
  deepStrictEqual(shapes.map(shapeLabel), [
    "16×16×512",
    "16×16×4096",
    "128×128×512",
  ]);
  deepStrictEqual(kernels, ["z", "a"]);
});

Deno.test("plotData() takes the first baseline with a time, else the first kernel", () => {
  const rows = [
    failedRow(rowAt("cublas", [16, 512, 3]), "unsupported"),
    rowAt("mine", [16, 512, 4]),
    rowAt("naive", [16, 512, 8]),
  ];
  const baselineOf = (baselines: string[]) =>
    plotData(rows, { ...LIGHT, baselines }).baseline;
  strictEqual(baselineOf(["cublas", "naive"]), "naive");
  strictEqual(baselineOf(["cublas"]), "mine");
  strictEqual(plotData(rows.slice(0, 1), LIGHT).baseline, undefined);
});

Deno.test("plotData() tells shapes apart by what else differs, and backends by name", () => {
  const data = plotData([
    rowAt("mine", [16, 512, 3], { layout: "nn" }),
    rowAt("mine", [16, 512, 4], { layout: "nt", backend: "cpu" }),
  ], LIGHT);
  deepStrictEqual(data.shapes.map(shapeLabel), [
    "16×16×512 nn",
    "16×16×512 nt",
  ]);
  deepStrictEqual(data.kernels, ["mine (backend0)", "mine (cpu)"]);
});

Deno.test("statusOf() says why there is no time, and speedupOf() gives none", () => {
  const data = plotData([
    rowAt("a", [16, 512, 3]),
    failedRow(rowAt("b", [16, 512, 3]), "crash"),
    rowAt("c", [32, 512, 3]),
  ], LIGHT);
  const [shape] = data.shapes;
  deepStrictEqual(
    ["b", "c"].map((kernel) => statusOf(data.at(shape!, kernel))),
    ["crash", "no row"],
  );
  strictEqual(speedupOf(data, shape!, ["a", "a"]), 1);
  strictEqual(speedupOf(data, shape!, ["b", "a"]), undefined);
});

Deno.test("plotData() draws a published row by its mean, without quartiles", () => {
  const none = { median_us: "", q1_us: "", q3_us: "", sol_us: "" };
  const data = plotData([rowAt("a", [16, 512, 3], none)], LIGHT);
  const { us, q1, q3 } = data.at(data.shapes[0]!, "a")!;
  deepStrictEqual([us, q1, q3], [3, 3, 3]);
});

Deno.test("sweepOf() lets curves run along the size that gives the fewest groups", () => {
  const along = (sizes: readonly (readonly [number, number, number])[]) => {
    const rows = sizes.map(([m, n, k]) =>
      rowAt("a", [1, 1, 3], { m: `${m}`, n: `${n}`, k: `${k}` })
    );
    const { axis, groups } = sweepOf(plotData(rows, LIGHT));
    return [axis, ...groups.map(({ slug }) => slug)];
  };
  deepStrictEqual(
    along([[16, 16, 1], [16, 16, 2], [32, 32, 1]]),
    ["k", "mn16", "mn32"],
  );
  deepStrictEqual(
    along([[1, 512, 64], [2, 512, 64], [4, 512, 64], [1, 256, 64]]),
    ["m", "n256-k64", "n512-k64"],
  );
});

Deno.test("plots say why they draw nothing of rows without a time", () => {
  const data = plotData(
    [failedRow(rowAt("a", [16, 512, 3]), "compile")],
    LIGHT,
  );
  for (const [name, plot] of Object.entries(plots)) {
    const said = plot(data);
    strictEqual(typeof said === "string" || said.length === 0, true, name);
  }
});
