import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { readCsv } from "../bench/row/read_csv.ts";
import { caseText, keyOf } from "../bench/row/row.ts";
import type { PointSet, Suite } from "../bench/model/suite.ts";
import { builtInSuites, suiteNames, usualNames } from "./mod.ts";

const suites = await builtInSuites();
const usualSuites = await builtInSuites(usualNames);

/** The distinct values of a key's field at a suite's points. */
const valuesOf = (
  suite: Suite,
  field: "m" | "n" | "k" | "layout" | "a_type" | "params",
  set: PointSet = "all",
) => [...new Set([...suite.cases(set)].map((c) => c.problem.key[field]))];

const suiteNamed = (name: string) => suites.find((s) => s.name === name)!;

Deno.test("suites lists every suite of the folder's files once", async () => {
  const files = [...Deno.readDirSync(new URL(".", import.meta.url))]
    .map(({ name }) => name)
    .filter((name) => name.endsWith(".ts") && !/^mod\.|_test/.test(name));
  const all = await Promise.all(files.map((name) => import(`./${name}`)));
  const found: Suite[] = all.flatMap((file) => file.default ?? []);
  assertEquals(suites.map(({ name }) => name), suiteNames);
  assertEquals(
    found.map(({ name }) => name).toSorted(),
    suiteNames.toSorted(),
  );
});

for (const suite of suites) {
  Deno.test(`suites: ${suite.name} has distinct keys, every kernel at each point`, () => {
    const cases = [...suite.cases("all")];
    const keys = new Set(cases.map((c) => caseText(keyOf(c))));
    assertStrictEquals(keys.size, cases.length, "two cases have one key");
    assertStrictEquals(
      cases.length % suite.kernels.length,
      0,
      `${cases.length} cases of ${suite.kernels.length} kernels: a point lacks a kernel`,
    );
  });

  Deno.test(`suites: ${suite.name} has each baseline among its kernels`, () => {
    const names = suite.kernels.map(({ name }) => name);
    assertEquals(
      suite.baselines.filter((name) => !names.includes(name)),
      [],
      "baselines that are not among the suite's kernels",
    );
  });

  Deno.test(`suites: ${suite.name} has a baseline on each backend, and more than it`, () => {
    const of = Map.groupBy(suite.kernels, ({ backend }) => backend);
    for (const [backend, kernels] of of) {
      const own = kernels.filter(({ name }) => suite.baselines.includes(name));
      assert(
        own.length > 0,
        `no kernel for ${backend} is a baseline: name one in baselines`,
      );
      assert(
        own.length < kernels.length,
        `every kernel for ${backend} is a baseline: add one to compare`,
      );
    }
  });

  Deno.test(`suites: ${suite.name} is quicker with quick`, () => {
    const keys = (set: PointSet) =>
      [...suite.cases(set)].map((c) => caseText(keyOf(c)));
    const all = new Set(keys("all"));
    const quick = keys("quick");
    assert(
      quick.length * 2 < all.size,
      `quick has ${quick.length} of ${all.size} cases: it must have fewer than half; give it fewer values`,
    );
    const others = quick.filter((key) => !all.has(key));
    assertEquals(others, [], "cases of quick that are not of the suite");
  });
}

for (const suite of usualSuites) {
  Deno.test(`usualSuites: ${suite.name} has 28 square shapes`, () => {
    const cases = [...suite.cases("all")];
    assertStrictEquals(cases.length, 28 * suite.kernels.length);
    for (const { problem } of cases) {
      assertStrictEquals(problem.key.m, problem.key.n);
    }
    assertEquals(valuesOf(suite, "layout"), ["nn"]);
  });
}

Deno.test("suites: router-bf16 is 1 to 256 tokens and the study's, weights in both layouts", () => {
  const suite = suiteNamed("router-bf16");
  assertEquals(valuesOf(suite, "m"), [
    ...[1, 2, 4, 8, 16, 32, 64, 128, 256],
    768,
  ]);
  assertEquals(valuesOf(suite, "n"), [256]);
  assertEquals(valuesOf(suite, "k"), [7168]);
  assertEquals(valuesOf(suite, "layout"), ["nt", "nn"]);
  assertEquals(valuesOf(suite, "a_type"), ["bf16"]);
  assertEquals(valuesOf(suite, "params"), ["epilogue=none"]);
});

for (const name of ["autotune-fp16", "autotune-fp8"]) {
  Deno.test(`suites: ${name} is three layers at 1 to 512 rows and 17`, () => {
    const suite = suiteNamed(name);
    const layers = new Set(
      [...suite.cases("all")].map(({ problem: { key } }) =>
        `${key.k}->${key.n}`
      ),
    );
    assertEquals([...layers], ["4096->4096", "4096->11008", "8192->1024"]);
    assertEquals(valuesOf(suite, "m"), [
      ...[1, 2, 4, 8, 16, 17, 32, 64, 128, 256, 512],
    ]);
    assertEquals(valuesOf(suite, "layout"), ["nt"]);
    assertEquals(
      [valuesOf(suite, "a_type"), valuesOf(suite, "params")],
      name === "autotune-fp16"
        ? [["f16"], ["epilogue=none"]]
        : [["e4m3"], ["scale=tensor", "scale=row", "scale=block128"]],
    );
    assertStrictEquals(suite.baselines[0], "cublaslt");
  });
}

Deno.test("suites: decode-bf16-k7168 is 1 to 128 rows by four widths of K = 7168", () => {
  const suite = suiteNamed("decode-bf16-k7168");
  assertEquals(valuesOf(suite, "m"), [1, 2, 4, 8, 16, 32, 64, 128]);
  assertEquals(valuesOf(suite, "n"), [256, 512, 1024, 2112]);
  assertEquals(valuesOf(suite, "k"), [7168]);
  assertEquals(valuesOf(suite, "layout"), ["nt"]);
  assertEquals(valuesOf(suite, "a_type"), ["bf16"]);
  assertEquals(valuesOf(suite, "params"), ["epilogue=none"]);
});

Deno.test("suites: decode-bf16-models is six layers at 1 to 128 rows, one without bias", () => {
  const suite = suiteNamed("decode-bf16-models");
  const layers = new Set(
    [...suite.cases("all")].map(({ problem: { key } }) =>
      `${key.n}x${key.k} ${key.params}`
    ),
  );
  assertEquals([...layers], [
    "128x2880 epilogue=bias",
    "640x2880 epilogue=bias",
    "5120x2880 epilogue=bias",
    "2880x2048 epilogue=bias",
    "2880x4096 epilogue=bias",
    "2112x7168 epilogue=none",
  ]);
  assertEquals(valuesOf(suite, "m"), [1, 2, 4, 8, 16, 32, 64, 128]);
  assertEquals(valuesOf(suite, "layout"), ["nt"]);
});

const AITER = aiterRows();

/** The published rows of an MI355X. */
function aiterRows() {
  const path = "../results/published/aiter-gfx950-256cu.csv";
  return [...readCsv(
    Deno.readTextFileSync(new URL(path, import.meta.url)),
    path,
  )];
}

for (const name of ["decode-bf16-k7168", "decode-bf16-models"]) {
  const suite = suiteNamed(name);

  Deno.test(`suites: ${name} sets what splits K against the libraries of each backend`, () => {
    const own = (backend: string) =>
      suite.kernels.filter((kernel) => kernel.backend === backend)
        .map((kernel) => kernel.name);
    assertEquals(own("cuda"), [
      ...["cublas", "cublaslt", "cublaslt-tuned", "decompose-k"],
      ...["exchange-k", "cluster-k", "wgmma-k", "columns-k", "dot"],
    ]);
    assertEquals(own("hip"), [
      ...["hipblas", "hipblaslt", "hipblaslt-tuned", "decompose-k"],
      ...["splitk-lds", "splitk-lds-atomic"],
    ]);
    assertEquals(own("cpu"), ["openblas", "naive", "blocked", "decompose-k"]);
    assert(suite.baselines.includes("hipblas"));
  });

  Deno.test(`suites: ${name} has AITER's published time at every shape`, () => {
    const sizes = [
      "a_type",
      "c_type",
      "layout",
      "m",
      "n",
      "k",
      "params",
    ] as const;
    const published = new Set<string>();
    for (const row of AITER) {
      published.add(sizes.map((size) => row[size]).join());
    }
    const points = [...suite.cases("all")].map(({ problem: { key } }) =>
      sizes.map((size) => key[size]).join()
    );
    assertEquals(points.filter((point) => !published.has(point)), []);
  });
}

/** The layers of models, with an asterisk those without a row of AITER at any M. */
const MODELS = {
  "decode-glm": [
    ...["2624x6144", "4096x2048", "6144x4096", "256x6144", "6144x6144"],
    ...["6144x3072", "3584x5120 bias *", "5120x3072 *"],
  ],
  "decode-kimi-k2": [
    ...["2112x7168", "3072x1536", "7168x2048", "384x7168", "1024x7168"],
    "7168x512",
  ],
  "decode-llama": [
    ...["1280x8192", "8192x1024", "7168x8192", "8192x3584"],
    ...["2304x16384", "16384x2048", "13312x16384", "16384x6656"],
  ],
  // AITER takes heads of 80, which is the hidden size over the heads, where Qwen3's have 128.
  "decode-qwen32b": [
    ...["2560x5120 *", "5120x2048 *", "12800x5120", "5120x6400"],
    ...["1792x5120 bias *", "5120x1280", "13824x5120 *", "5120x6912 *"],
  ],
};

for (const [name, expected] of Object.entries(MODELS)) {
  Deno.test(`suites: ${name} is the layers of its models, 1 to 256 rows in both types`, () => {
    const suite = suiteNamed(name);
    const shapeOf = ({ n, k, params }: Record<"n" | "k" | "params", unknown>) =>
      `${n}x${k}${params === "epilogue=bias" ? " bias" : ""}`;
    const published = new Set(AITER.map(shapeOf));
    const layers = new Set(
      [...suite.cases("all")].map(({ problem: { key } }) => shapeOf(key)),
    );
    assertEquals(
      [...layers].map((layer) => published.has(layer) ? layer : `${layer} *`),
      expected,
    );
    assertEquals(valuesOf(suite, "m"), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
    assertEquals(valuesOf(suite, "a_type"), ["bf16", "f16"]);
    assertEquals(valuesOf(suite, "layout"), ["nt"]);
  });
}

Deno.test("suites: a field of a pair is overridden, and so is the layout", () => {
  const shapes = [
    ...suiteNamed("router-bf16").cases("quick", { n: [64], layout: ["nn"] }),
  ].map(({ problem: { key } }) => `${key.m} ${key.n} ${key.k} ${key.layout}`);
  assertEquals([...new Set(shapes)], ["1 64 7168 nn", "16 64 7168 nn"]);
});

Deno.test("suites: mlx-qmm is the PR's shapes and formats, M around its edges and beyond", () => {
  const suite = suiteNamed("mlx-qmm");
  const weights = [...suite.cases("all")].map(({ problem: { key } }) =>
    `${key.n}x${key.k}`
  );
  assertEquals([...new Set(weights)], [
    ...["2560x2560", "4096x4096", "8192x8192", "2048x8192"],
  ]);
  assertEquals(valuesOf(suite, "m"), [
    ...[1, 2, 4, 8, 10, 12, 14, 16, 20, 31, 32, 33, 64, 96, 128],
    ...[256, 512, 1024, 2048],
  ]);
  assertEquals(valuesOf(suite, "params"), [
    "mode=affine bits=4 group=64",
    "mode=mxfp4",
    "mode=mxfp8",
    "mode=nvfp4",
  ]);
  assertEquals(valuesOf(suite, "layout"), ["nt"]);
});

Deno.test("suites: mlx-qmm-formats is every format at one shape, both ways", () => {
  const suite = suiteNamed("mlx-qmm-formats");
  // Six widths by three groups, three formats that have no choice, two widths of a channel.
  assertStrictEquals(valuesOf(suite, "params").length, 6 * 3 + 3 + 2);
  assertEquals(valuesOf(suite, "layout"), ["nt", "nn"]);
  assertEquals([valuesOf(suite, "n"), valuesOf(suite, "k")], [
    [4096],
    [4096],
  ]);
});
