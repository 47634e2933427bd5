import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import {
  buildTest,
  kernelNotes,
} from "../../../backends/testdata/code_object.ts";
import type { Build } from "../../../bench/device/device.ts";
import { decode, encode } from "../../../bench/model/dtype.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { noMfma } from "../../common/rules.ts";
import { mi300x } from "../../testdata/devices.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";
import { SMALL_SPLITK } from "../testdata/hip_mutants.ts";
import { product, storedMatrix } from "../../common/product.ts";
import { hipKernels, hipRules, hipTiles, ldsBytes, wavesOfK } from "./hip.ts";
import { type SplitkConfig, splitkRules } from "./splitk/config.ts";
import {
  atomicTolerance,
  splitkAtomic,
  splitkKernels,
  splitkPartials,
} from "./splitk/splitk.ts";

Deno.test("hipKernels are in the order of listings", () => {
  assertEquals(hipKernels.map((k) => k.name), [
    "hipblas",
    "hipblaslt",
    "hipblaslt-tuned",
    "bmm-sum",
    "decompose-k-tile",
    "decompose-k-tile-unfused",
    "decompose-k",
    "decompose-k-unfused",
    "splitk-lds",
    "splitk-lds-atomic",
  ]);
  assert(hipKernels.every(({ backend }) => backend === "hip"));
});

Deno.test("noMfma() names what has the instructions", () => {
  assertStrictEquals(noMfma(mi300x), undefined);
  assertMatch(noMfma({ ...mi300x, arch: "gfx1100" })!, /^gfx1100 has no MFMA/);
});

Deno.test("hipRules each refuse something", () => {
  const points = [
    matmul.point({ m: 64, n: 64, k: 8192, type: "f32" }),
    matmul.point({ m: 16, n: 16, k: 96 }),
  ];
  const config = { BM: 64, BN: 64, BK: 512, WAVES: 16, SPLIT: 2 };
  const cases = {
    split: { ...config, SPLIT: 5 },
    slice: { ...config, SPLIT: 32 },
    shared: config,
    waves: { ...config, BM: 16, BN: 16, BK: 64, WAVES: 8 },
    tile: config,
    step: config,
    grid: { ...config, SPLIT: 65536 },
  };
  assertEquals(Object.keys(cases), Object.keys(hipRules));
  for (const [name, config] of Object.entries(cases)) {
    const rule = hipRules[name as keyof typeof hipRules];
    assert(points.some((p) => rule(p, config, mi300x) !== undefined), name);
  }
});

Deno.test("hipTiles all fit a compute unit in bf16, and are legal somewhere", () => {
  const point = matmul.point({ m: 64, n: 64, k: 1 << 15 });
  for (const tile of hipTiles) {
    assert(ldsBytes(tile, "bf16") <= mi300x.sharedBytes, JSON.stringify(tile));
    assert(Number.isInteger(wavesOfK(tile)));
    const config = { ...tile, SPLIT: 2 };
    for (const [name, rule] of Object.entries(hipRules)) {
      assertStrictEquals(rule(point, config, mi300x), undefined, name);
    }
  }
});

/** A C without gaps, and one with. */
const points = [1, 2].map((stepc) =>
  matmul.point({
    m: 64,
    n: 64,
    k: 1 << 15,
    type: "bf16",
    layout: "nn",
    epilogue: "relu",
    stepc,
  })
);
const kernels = [...hipKernels, ...matmul.referenceKernels!].filter((
  { backend },
) => backend === "hip");
const sources = ({ source }: Build) => source.pathname.split("/").at(-1)!;
const SPLITK: SplitkConfig = { ...SMALL_SPLITK, STAGES: 5, SPLIT: 8 };
const builds = kernels.flatMap((kernel) =>
  points.flatMap((point) =>
    kernel.builds(
      point,
      splitkKernels.includes(kernel) ? SPLITK : { ...hipTiles[0]!, SPLIT: 2 },
    )
  )
);

Deno.test("hipKernels name every .hip source", () => {
  const files = ["./", "./splitk/"].flatMap((folder) =>
    [...Deno.readDirSync(new URL(folder, import.meta.url))]
      .map(({ name }) => name).filter((name) => name.endsWith(".hip"))
  );
  assertEquals(
    [...new Set(builds.map(sources))].sort(),
    [...files, "reference.cu"].sort(),
  );
});

buildTest("each source builds without spills", "gfx942", async (compile) => {
  const each = new Map(builds.map((b) => [sources(b), b]));
  for (const build of each.values()) {
    for (const note of await kernelNotes(await compile(build))) {
      assertStrictEquals(note.spills, 0, note.name);
      assertStrictEquals(note.wave, 64, note.name);
    }
  }
});

const POINT = { m: 21, n: 128, k: 768, layout: "nt", type: "bf16" };

Deno.test("splitkRules() each refuse something, and say why", () => {
  const point = matmul.point({ ...POINT, m: 128, n: 2112, k: 7168 });
  const broken: Record<string, Values> = {
    stages: { STAGES: 1 },
    columns: { TN: 128 },
    split: { SPLIT: 5 },
    slice: { TK: 48 },
    fill: { SPLIT: 7, TK: 256, STAGES: 8 },
    step: { TK: 56 },
    wavesM: { WAVES_M: 2 },
    wavesN: { WAVES_N: 8 },
    wavesK: { WAVES_K: 4 },
    waves: { WAVES_M: 4, WAVES_N: 4, WAVES_K: 2 },
    vectors: { WAVES_N: 4, WAVES_K: 4 },
    size: { TM: 512, TN: 256 },
    square: { TM: 256, TN: 256, TK: 64 },
    lds: { STAGES: 8, TK: 128 },
    flight: { STAGES: 8 },
    counters: { TN: 64 },
    dma: {},
    counted: { B_TO_LDS: 0 },
    ahead: { ASYNC: 0 },
  };
  const rules = splitkRules("partials");
  assertStrictEquals(Object.keys(rules).join(), Object.keys(broken).join());
  for (const [name, change] of Object.entries(broken)) {
    const info = name === "dma" ? { ...mi300x, arch: "gfx90a" } : mi300x;
    const why = rules[name]!(
      point,
      { ...SMALL_SPLITK, ...change } as SplitkConfig,
      info,
    );
    assert(why, name);
  }
});

Deno.test("splitkAtomic refuses bf16 where memory cannot add it, and a relu", () => {
  const why = (values: Values, arch = "gfx90a") =>
    splitkAtomic.unsupported(matmul.point({ ...POINT, ...values }), {
      ...mi300x,
      arch,
    });
  assertMatch(why({}) ?? "", /^gfx90a adds pairs of f16 in memory/);
  assertStrictEquals(why({ type: "f16" }), undefined);
  assertStrictEquals(why({}, "gfx942"), undefined);
  assertMatch(
    why({ epilogue: "relu" }, "gfx942") ?? "",
    /no moment .* for a relu$/,
  );
});

Deno.test("splitkPartials has a legal config at each decode shape of K = 7168", () => {
  for (const n of [256, 512, 1024, 2112]) {
    for (const m of [1, 8, 128]) {
      const point = matmul.point({ m, n, k: 7168, layout: "nt" });
      assertStrictEquals(splitkPartials.unsupported(point, mi300x), undefined);
      const [first] = splitkPartials.candidates(point, mi300x);
      assertStrictEquals(first!.illegal, undefined, `${m} ${n}`);
    }
  }
});

const TYPES = ["bf16", "f16"] as const;
/** The most of AITER's range, whatever K: what is allowed grows with it. */
const MOST_SPLITS = 13;

function pointOf(type: "bf16" | "f16", k: number, m = 8): MatmulPoint {
  return matmul.point({ m, n: 64, k, type, layout: "nt" });
}

/** How many of `values` are not within a tolerance of `right`. */
function mismatches(
  values: Float64Array,
  right: Float64Array,
  { rtol, atol }: { rtol: number; atol: number },
): number {
  return values.filter((x, i) =>
    !(Math.abs(x - right[i]!) <= atol + rtol * Math.abs(right[i]!))
  ).length;
}

for (const type of TYPES) {
  Deno.test(`atomicTolerance() lets ${type} sums of splits pass, the operation's does not`, () => {
    const point = pointOf(type, 7168, 64);
    const rounded = (x: Float64Array) =>
      decode(encode(x as Float64Array<ArrayBuffer>, type), type);
    const inputs = matmul.inputs(point, { seed: 3, fill: "normal" });
    const a = storedMatrix(inputs[0]!, type, point.lda);
    const b = storedMatrix(inputs[1]!, type, point.ldb);
    const right = matmul.reference(point, inputs).all(0);
    const SPLIT = 8;
    let sum: Float64Array = new Float64Array(right.length);
    // Any order will do; this one is not the natural one.
    for (const split of [3, 0, 7, 5, 1, 6, 2, 4]) {
      const slice = point.k / SPLIT;
      const part = rounded(
        product(point, a, b, [split * slice, (split + 1) * slice]),
      );
      sum = rounded(sum.map((x, i) => x + part[i]!));
    }
    assertStrictEquals(
      mismatches(sum, right, atomicTolerance(point, { SPLIT })),
      0,
    );
    assert(mismatches(sum, right, matmul.tolerance(point)) > 0);
  });

  for (const k of [256, 2880, 7168]) {
    Deno.test(`atomicTolerance() rejects the mutants of matmul in ${type} at K = ${k}`, () => {
      const point = pointOf(type, k);
      const inputs = matmul.inputs(point, { seed: 0, fill: "normal" });
      const right = matmul.reference(point, inputs);
      const tolerance = atomicTolerance(point, { SPLIT: MOST_SPLITS });
      const passed = matmul.mutants(point, inputs, right).filter((
        { outputs },
      ) => mismatches(outputs[0]!, right.all(0), tolerance) === 0);
      assertEquals(passed.map(({ name }) => name), []);
    });
  }
}

Deno.test("atomicTolerance() grows with K and splits, and is wider than the operation's", () => {
  const atolOf = (k: number, SPLIT: number) =>
    atomicTolerance(pointOf("bf16", k), { SPLIT }).atol;
  assert(atolOf(7168, 8) > atolOf(7168, 7));
  assert(atolOf(7168, 8) > atolOf(2048, 8));
  assert(atolOf(256, 1) > matmul.tolerance(pointOf("bf16", 256)).atol);
  // Sixteenfold K, four times the spread.
  const spread = (k: number) => atolOf(k, 8) - 1e-2;
  assert(Math.abs(spread(16 * 448) / spread(448) - 4) < 1e-9);
});

Deno.test("splitkAtomic has a tolerance of its own, and splitkPartials has none", () => {
  const point = pointOf("bf16", 7168);
  assertEquals(
    splitkAtomic.tolerance!(point, { SPLIT: 8 }),
    atomicTolerance(point, { SPLIT: 8 }),
  );
  assertStrictEquals(splitkPartials.tolerance, undefined);
});
