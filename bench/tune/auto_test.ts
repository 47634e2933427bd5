import { assertEquals, assertThrows } from "@std/assert";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { fake } from "../../backends/fake/fake.ts";
import type { Blas } from "../device/blas.ts";
import type { Device } from "../device/device.ts";
import { CaseError } from "../model/errors.ts";
import { formatValues, type Values } from "../model/grid.ts";
import { defineKernel } from "../model/kernel.ts";
import type { Candidate, Kernel } from "../model/kernel_spec.ts";
import { INFO } from "../testdata/jobs.ts";
import { chooseAuto, chosenBy } from "./auto.ts";
import { autoKernel } from "./auto_kernel.ts";
import type { HintRow } from "./hints.ts";

const info = {
  index: 0,
  name: INFO.device,
  arch: INFO.arch,
  units: 4,
  cacheBytes: 0,
  flushBytes: 0,
  sharedBytes: 0,
  driver: "",
};

type Tile = Values & { readonly TILE: number };

/** A kernel with tiles that divide M. */
const tiled = (
  name: string,
  more: Partial<Parameters<typeof defineKernel<MatmulPoint, Tile>>[1]> = {},
): Kernel<MatmulPoint> =>
  defineKernel<MatmulPoint, Tile>(matmul, {
    name,
    backend: "fake",
    idea: "tiles",
    configs: () => [8, 16, 32].map((TILE) => ({ TILE })),
    rules: [({ m }, { TILE }) => m % TILE === 0 ? undefined : "M is odd"],
    prepare: () => ({ steps: [] }),
    ...more,
  });

const row = (change: Partial<HintRow>): HintRow => ({
  suite: "s",
  op: "matmul",
  kernel: "a",
  backend: "fake",
  a_type: "bf16",
  b_type: "bf16",
  c_type: "bf16",
  acc_type: "f32",
  layout: "nn",
  m: "64",
  n: "64",
  k: "4096",
  params: "epilogue=none",
  timer: "graph",
  cache: "cold",
  arch: info.arch,
  config: "TILE=8",
  status: "ok",
  median_us: "10",
  source_hash: "1",
  ...change,
});

const at = (m: number, more: Values = {}) =>
  matmul.point({ m, n: m, k: 4096, ...more });

function chosen(
  point: MatmulPoint,
  rows: readonly HintRow[],
  kernels: readonly Kernel<MatmulPoint>[] = [tiled("a"), tiled("b")],
  library = false,
): string {
  const options = { op: matmul, kernels, backend: "fake", info, rows, library };
  const { kernel, config, by } = chooseAuto(point, options);
  return `${kernel.name} ${formatValues(config)} by ${by}`;
}

Deno.test("chooseAuto() takes the fastest recorded row of a point", () => {
  const rows = [
    row({ median_us: "10" }),
    row({ kernel: "b", config: "TILE=16", median_us: "9" }),
    // Timed otherwise, and alone.
    row({ config: "TILE=32", timer: "do_bench", median_us: "1" }),
    row({ kernel: "torch", config: "", median_us: "2" }),
    row({ backend: "other", config: "TILE=32", median_us: "3" }),
  ];
  assertEquals(chosen(at(64), rows), "b TILE=16 by table");
});

Deno.test("chooseAuto() scales a kernel that only another timer has by what both have", () => {
  const kernels = [tiled("a"), tiled("b"), tiled("c")];
  const rows = (c: string) => [
    row({ median_us: "10" }),
    row({ kernel: "b", config: "TILE=16", median_us: "9" }),
    row({ timer: "do_bench", median_us: "20" }),
    row({ kernel: "c", timer: "do_bench", median_us: c }),
  ];
  assertEquals(chosen(at(64), rows("17"), kernels), "c TILE=8 by table");
  assertEquals(chosen(at(64), rows("19"), kernels), "b TILE=16 by table");
  // Nothing says how the two timers compare.
  const apart = rows("1").filter(({ median_us }) => median_us !== "20");
  assertEquals(chosen(at(64), apart, kernels), "b TILE=16 by table");
});

Deno.test("chooseAuto() knows a kernel by rows of auto, unless it has its own", () => {
  const blas = tiled("blas", { library: true, configs: () => [{ TILE: 1 }] });
  const kernels = [tiled("a"), tiled("b"), blas];
  const rows = [
    row({ kernel: "auto", config: "kernel=b TILE=16", median_us: "5" }),
    row({ kernel: "blas", config: "TILE=1", median_us: "6" }),
  ];
  assertEquals(chosen(at(64), rows, kernels), "b TILE=16 by table");
  assertEquals(chosen(at(64), rows, kernels, true), "b TILE=16 by table");
  const own = row({ kernel: "b", config: "TILE=32", median_us: "7" });
  assertEquals(
    chosen(at(64), [...rows, own], kernels, true),
    "blas TILE=1 by table",
  );
});

Deno.test("chooseAuto() goes by near points before rows of auto alone", () => {
  const own = row({ kernel: "auto", config: "kernel=a TILE=32" });
  const near = [["a", "9"], ["b", "8"]].map(([kernel, median_us]) =>
    row({ m: "80", n: "80", kernel: kernel!, median_us: median_us! })
  );
  assertEquals(chosen(at(64), [own]), "a TILE=32 by table");
  assertEquals(chosen(at(64), [own, ...near]), "b TILE=8 by model");
  // Beside a row of another kernel it counts.
  const other = row({ kernel: "b", median_us: "11" });
  assertEquals(chosen(at(64), [own, other, ...near]), "a TILE=32 by table");
});

Deno.test("chooseAuto() goes by rows of bf16 for fp16 too, and by no other type", () => {
  const rows = (type: string, m: string, [a, b]: readonly [string, string]) => {
    const types = { a_type: type, b_type: type, c_type: type };
    return [
      row({ ...types, m, n: m, median_us: a }),
      row({ ...types, m, n: m, kernel: "b", median_us: b }),
    ];
  };
  const halves = [
    ...rows("f16", "512", ["50", "60"]),
    ...rows("bf16", "64", ["9", "8"]),
  ];
  assertEquals(chosen(at(64, { type: "f16" }), halves), "b TILE=8 by model");
  // The same type counts more.
  const both = [...halves, ...rows("f16", "60", ["8", "9"])];
  assertEquals(chosen(at(64, { type: "f16" }), both), "a TILE=8 by model");
  const single = [
    ...rows("f32", "512", ["50", "60"]),
    ...rows("bf16", "64", ["9", "8"]),
  ];
  assertEquals(chosen(at(64, { type: "f32" }), single), "a TILE=8 by model");
});

Deno.test("chooseAuto() keeps a recorded kernel whose config is no longer legal", () => {
  const rows = [
    row({}),
    row({ kernel: "b", config: "TILE=64", median_us: "9" }),
  ];
  assertEquals(chosen(at(64), rows), "b TILE=8 by model");
});

Deno.test("chooseAuto() interpolates between the nearest recorded points", () => {
  const rows = [["32", "5", "9"], ["2048", "90", "50"]].flatMap(([m, a, b]) => [
    row({ m: m!, n: m!, median_us: a! }),
    row({ m: m!, n: m!, kernel: "b", config: "TILE=16", median_us: b! }),
  ]);
  assertEquals(chosen(at(48), rows), "a TILE=8 by model");
  assertEquals(chosen(at(1024), rows), "b TILE=16 by model");
  // The nearest recorded config that is legal, or the one most like it.
  assertEquals(
    chosen(at(40, { n: 4096 }), rows.filter(({ kernel }) => kernel === "a")),
    "a TILE=8 by model",
  );
  assertEquals(chosen(at(1024, { type: "f32" }), rows), "b TILE=16 by model");
});

Deno.test("chooseAuto() predicts from lone calls, not from those of a chain", () => {
  const rows = [
    row({ median_us: "10" }),
    row({ kernel: "b", config: "TILE=16", median_us: "12" }),
    row({ kernel: "b", config: "TILE=16", timer: "chain:32", median_us: "6" }),
  ];
  assertEquals(chosen(at(96), rows), "a TILE=8 by model");
  // Of a kernel that has no other.
  assertEquals(chosen(at(96), [rows[2]!]), "b TILE=16 by model");
});

Deno.test("chooseAuto() follows a kernel's model far from recorded points, not near them", () => {
  const kernels = [
    tiled("a", { predict: ({ m }) => m }),
    tiled("b", { predict: () => 1 }),
  ];
  const rows = [
    row({ median_us: "10" }),
    row({ kernel: "b", config: "TILE=16", median_us: "12" }),
  ];
  assertEquals(chosen(at(96), rows, kernels), "a TILE=8 by model");
  assertEquals(chosen(at(2048), rows, kernels), "b TILE=16 by model");
  assertEquals(
    chosen(at(2048), rows, [
      tiled("a", { predict: (_, { TILE }) => 1 / TILE }),
    ]),
    "a TILE=32 by model",
  );
});

Deno.test("chooseAuto() leaves a recorded config that the model puts far behind, but at near points", () => {
  const by = (behind: number) => [
    tiled("a", { predict: (_, { TILE }) => TILE === 8 ? behind : 1 }),
  ];
  const rows = [row({ config: "TILE=8" })];
  assertEquals(chosen(at(128), rows, by(1.1)), "a TILE=8 by model");
  assertEquals(chosen(at(128), rows, by(1.2)), "a TILE=16 by model");
  assertEquals(chosen(at(72), rows, by(1.2)), "a TILE=8 by model");
  assertEquals(chosen(at(80), rows, by(1.3)), "a TILE=16 by model");
  const [rough] = by(1.07);
  const fitted = [{ ...rough!, isFitted: true }];
  assertEquals(chosen(at(128), rows, by(1.07)), "a TILE=8 by model");
  assertEquals(chosen(at(128), rows, fitted), "a TILE=16 by model");
  assertEquals(chosen(at(72), rows, fitted), "a TILE=8 by model");
  // Another epilogue alone is no distance for this.
  const relu = at(64, { epilogue: "relu" });
  assertEquals(chosen(relu, rows, by(1.3)), "a TILE=8 by model");
});

Deno.test("chooseAuto() goes by models where no kernel has a row", () => {
  const kernels = [
    tiled("a", { predict: (_, { TILE }) => 100 / TILE }),
    tiled("b", { predict: () => 7 }),
    tiled("c"),
  ];
  assertEquals(chosen(at(64), [], kernels), "a TILE=32 by model");
  assertEquals(chosen(at(8), [], kernels), "b TILE=8 by model");
});

Deno.test("chooseAuto() takes the library where it may and it is faster", () => {
  const blas = tiled("blas", { library: true, configs: () => [{ TILE: 1 }] });
  const kernels = [tiled("a"), blas];
  const rows = [
    row({}),
    row({ kernel: "blas", config: "TILE=1", median_us: "6" }),
  ];
  assertEquals(chosen(at(64), rows, kernels), "a TILE=8 by table");
  assertEquals(chosen(at(64), rows, kernels, true), "blas TILE=1 by table");
  assertEquals(chosen(at(128), rows, kernels, true), "blas TILE=1 by model");
});

Deno.test("chooseAuto() takes of a library only what the open device has", () => {
  const offered = [{ ALGO: 1 }, { ALGO: 2 }];
  const tuned = defineKernel<MatmulPoint, Values>(matmul, {
    name: "blas-tuned",
    backend: "fake",
    idea: "a search",
    library: true,
    offers: () => offered,
    prepare: () => ({ steps: [] }),
  });
  const rows = [
    row({}),
    row({ kernel: "blas-tuned", config: "ALGO=2", median_us: "6" }),
  ];
  const backend = fake({ kernels: {} });
  using bare = backend.open(backend.find().devices[0]!);
  const on = (device?: Device, point = at(64)) => {
    const { kernel, config, by } = chooseAuto(point, {
      op: matmul,
      kernels: [tuned, tiled("a")],
      backend: "fake",
      info,
      rows,
      library: true,
      ...(device ? { device } : {}),
    });
    return `${kernel.name} ${formatValues(config)} by ${by}`;
  };
  const library = { name: "blas", version: "1" } as Blas;
  const device: Device = { ...bare, info, blas: library };
  assertEquals(on(), "blas-tuned ALGO=2 by table");
  assertEquals(on(device), "blas-tuned ALGO=2 by table");
  assertEquals(on(bare), "a TILE=8 by table");
  // The algorithm of another point says nothing here.
  assertEquals(on(device, at(128)), "a TILE=8 by model");
  offered.pop();
  assertEquals(on(device), "blas-tuned ALGO=1 by model");
});

Deno.test("chooseAuto() prefers a kernel without a row at a point if its prediction is far below", () => {
  const old = row({ m: "128", n: "128", median_us: "40" });
  // It was added since, and recorded at another point only.
  const added = (median_us: string) =>
    row({ kernel: "b", config: "TILE=16", median_us });
  const other = row({ median_us: "20" });
  assertEquals(
    chosen(at(128), [old, other, added("10")]),
    "b TILE=16 by model",
  );
  assertEquals(chosen(at(128), [old, other, added("38")]), "a TILE=8 by table");
  const measured = row({ ...added("39"), m: "128", n: "128" });
  const rows = [old, other, added("10"), { ...measured, median_us: "41" }];
  assertEquals(chosen(at(128), rows), "a TILE=8 by table");
});

Deno.test("chooseAuto() prefers kernels that start early where that is asked for", () => {
  const rows = [
    row({ median_us: "10" }),
    row({ kernel: "b", config: "TILE=16", median_us: "9" }),
  ];
  const early = (point: MatmulPoint) => {
    const startsEarly = ({ m }: MatmulPoint) => m === 64;
    const kernels = [tiled("a", { startsEarly }), tiled("b")];
    const asked = { op: matmul, backend: "fake", info, rows };
    const choice = chooseAuto(point, { ...asked, kernels, early: true });
    return `${choice.kernel.name} ${formatValues(choice.config)}`;
  };
  assertEquals(early(at(64)), "a TILE=8");
  assertEquals(early(at(32)), "b TILE=16");
});

Deno.test("chooseAuto() takes rows of early calls where calls start early, and only there", () => {
  const startsEarly = () => true;
  const kernels = [tiled("a", { startsEarly }), tiled("b", { startsEarly })];
  const early = { timer: "chain:32:pdl" };
  const rows = [
    row({ ...early, config: "TILE=32", median_us: "4" }),
    row({ ...early, kernel: "b", config: "TILE=32", median_us: "5" }),
    row({
      ...early,
      kernel: "auto",
      config: "kernel=b TILE=8",
      median_us: "3",
    }),
    row({ median_us: "10" }),
    row({ kernel: "b", config: "TILE=16", median_us: "9" }),
  ];
  const of = (early: boolean, rows: readonly HintRow[]) => {
    const asked = { op: matmul, backend: "fake", info, kernels, early, rows };
    const { kernel, config } = chooseAuto(at(64), asked);
    return `${kernel.name} ${formatValues(config)}`;
  };
  assertEquals(of(true, rows), "a TILE=32");
  assertEquals(of(false, rows), "b TILE=16");
  // A row of `auto` repeats what was chosen before.
  assertEquals(of(true, rows.slice(2)), "b TILE=16");
  // Nothing else is known of either.
  assertEquals(of(false, rows.slice(0, 2)), "a TILE=32");
});

Deno.test("chooseAuto() says in one line why there is nothing to choose", () => {
  const why = (kernels: readonly Kernel<MatmulPoint>[]) =>
    assertThrows(() => chosen(at(9), [], kernels), CaseError).message;
  assertEquals(
    why([tiled("blas", { library: true })]),
    "matmul has no kernel of its own on fake to choose from",
  );
  assertEquals(
    why([tiled("a", { unsupported: () => "M is 9" })]),
    "No kernel runs here: a: M is 9",
  );
  assertEquals(
    why([tiled("a"), tiled("b", { unsupported: () => "M is 9" })]),
    "No kernel runs here: a: no config is legal; b: M is 9",
  );
  const none = `has a recorded row on ${info.arch} or a model: name a kernel`;
  assertEquals(
    why([tiled("a", { rules: [] })]),
    `No kernel of matmul that runs here ${none}`,
  );
});

Deno.test("autoKernel() has one config, which names the chosen kernel and its own", () => {
  const source = new URL("file:///b.c");
  const build = (config: Values) => ({ source, defines: config });
  const kernels = [
    tiled("a"),
    tiled("b", {
      builds: (_, config) => [build(config)],
      tolerance: () => ({ rtol: 1, atol: 2 }),
    }),
  ];
  const rows = [row({ kernel: "b", config: "TILE=16" })];
  const auto = autoKernel(matmul, {
    name: "auto",
    backend: "fake",
    kernels,
    rowsOn: () => rows,
  });
  const config = { kernel: "b", TILE: 16 };
  assertEquals([...auto.candidates(at(64), info)], [{ config, by: "table" }]);
  assertEquals(chosenBy(config), { kernel: "b", config: { TILE: 16 } });
  assertEquals(chosenBy({ TILE: 16 }), undefined);
  assertEquals(auto.builds(at(64), config), [build({ TILE: 16 })]);
  assertEquals(auto.tolerance?.(at(64), config), { rtol: 1, atol: 2 });
  assertEquals(
    auto.tolerance?.(at(64), { kernel: "a", TILE: 8 }),
    matmul.tolerance(at(64)),
  );
  assertThrows(() => auto.builds(at(64), { kernel: "gone" }), CaseError);
  const other = { ...info, arch: "unknown" };
  // With the device it is asked again: that may lack the library.
  const blas = tiled("blas", { library: true });
  const both = autoKernel(matmul, {
    name: "auto-library",
    backend: "fake",
    kernels: [blas, tiled("a")],
    rowsOn: () => [
      row({}),
      row({ kernel: "blas", median_us: "6" }),
    ],
  });
  const backend = fake({ kernels: {} });
  using device = backend.open(backend.find().devices[0]!);
  const point = at(64);
  const names = (list: Iterable<Candidate>) =>
    Array.from(list, ({ config }) => chosenBy(config)?.kernel);
  assertEquals(names(both.candidates(point, device.info)), ["blas"]);
  assertEquals(names(both.offers!(point, device)), ["a"]);
  assertEquals(auto.unsupported(at(64), info), undefined);
  const none = autoKernel(matmul, {
    name: "auto",
    backend: "fake",
    kernels,
    rowsOn: () => [],
  });
  assertEquals(
    none.unsupported(at(64), other),
    "No kernel of matmul that runs here has a recorded row on unknown or a model: name a kernel",
  );
});
