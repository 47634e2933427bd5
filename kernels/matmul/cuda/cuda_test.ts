import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { formatValues, type Values } from "../../../bench/model/grid.ts";
import { problemOf } from "../../../bench/model/suite.ts";
import { distinctBuilds } from "../../testdata/cuda_builds.ts";
import { h200 } from "../../testdata/devices.ts";
import { memoryOf, numbers } from "../../testdata/listener.ts";
import { matmul } from "../op.ts";
import { TYPES } from "../point.ts";
import { cases, DOTS, dotted, EXTREMES, tile } from "../testdata/cases.ts";
import { config, kernel, legal, plan, seed } from "../testdata/listener.ts";
import { cudaKernels } from "./cuda.ts";
import { dotRules, predictDot } from "../../common/dot_products.ts";

Deno.test("cudaKernels are in the order of listings", () => {
  assertEquals(cudaKernels.map((k) => k.name), [
    "cublas",
    "cublaslt",
    "cublaslt-tuned",
    "bmm-sum",
    "decompose-k-tile",
    "decompose-k-tile-unfused",
    "decompose-k",
    "decompose-k-unfused",
    "decompose-k-pdl",
    "exchange-k",
    "cluster-k",
    "wgmma-k",
    "columns-k",
    "dot",
  ]);
  assertStrictEquals(kernel("decompose-k-unfused").follows, "decompose-k");
  assertStrictEquals(
    kernel("decompose-k-tile-unfused").follows,
    "decompose-k-tile",
  );
});

Deno.test("candidates() of decompose-k are those of the decompose-K study, legal ones counted", () => {
  const shape = { m: 16, n: 16, k: 8192, epilogue: "relu" };
  const all = [...kernel("decompose-k").candidates(seed, h200)];
  // 27 tiles, 8 splits.
  assertStrictEquals(all.length, 216);
  // The eight 16 x 16 tiles: one of BK=32 at 8 splits; three of BK=64, without the slices
  // of 32; four of BK=128, without those of 32 and 64.
  assertStrictEquals(legal("decompose-k", shape).length, 8 + 3 * 7 + 4 * 6);
  // 12 tiles at 6 splits, one tile of them small enough.
  assertStrictEquals(
    [...kernel("decompose-k-tile").candidates(seed, h200)].length,
    72,
  );
  assertStrictEquals(legal("decompose-k-tile", shape).length, 6);
});

Deno.test("candidates() of fp32 lose tiles to shared memory", () => {
  const reasons = [
    ...kernel("decompose-k").candidates(
      matmul.point({ m: 64, n: 64, k: 8192, type: "f32" }),
      h200,
    ),
  ].flatMap(({ illegal }) => illegal ?? []);
  assert(reasons.some((r) => r.includes("of shared memory")));
});

Deno.test("unsupported() says why no split is legal", () => {
  const why = (name: string, values: Values) =>
    kernel(name).unsupported(matmul.point(values), h200);
  const tiny = { m: 3, n: 5, k: 7, epilogue: "bias" };
  for (
    const name of [
      "bmm-sum",
      "decompose-k-tile",
      "decompose-k-tile-unfused",
      "decompose-k",
      "decompose-k-unfused",
    ]
  ) {
    assertMatch(why(name, tiny) ?? "", /^no split of K=7 is legal/);
  }
  const short = { m: 1, n: 16, k: 128, epilogue: "relu" };
  assertMatch(why("decompose-k-tile", short) ?? "", /slices of at least 128$/);
  assertStrictEquals(why("decompose-k", short), undefined);
  assertStrictEquals(why("cublas", tiny), undefined);
});

Deno.test("unsupported() of an unfused variant without an epilogue, and of an old device", () => {
  const plain = matmul.point({ m: 16, n: 16, k: 8192 });
  assertStrictEquals(
    kernel("decompose-k-unfused").unsupported(plain, h200),
    "decompose-k has no epilogue to unfuse",
  );
  assertStrictEquals(
    kernel("decompose-k").unsupported(plain, { ...h200, arch: "sm_75" }),
    "sm_75 has no cp.async and no bf16 tensor cores: sm_80 has",
  );
});

Deno.test("builds() do not depend on shapes, splits or epilogues", () => {
  const builds = (values: Values, SPLIT: number) =>
    kernel("decompose-k").builds(matmul.point(values), { ...config, SPLIT });
  assertEquals(
    builds({ m: 16, n: 16, k: 8192, epilogue: "relu" }, 64),
    builds({ m: 33, n: 7, k: 1000, lda: 1001, epilogue: "none" }, 2),
  );
});

Deno.test("matmul.referenceKernels read B by steps that follow the layout", () => {
  const wide = (values: Values) =>
    plan("reference", { m: 2, n: 3, k: 4, lda: 5, ldb: 6, ...values })
      .queue[0]!.args.flatMap((a) => a.kind === "i64" ? [a.value] : []);
  // No bias, then lda and the steps of B along K and N.
  assertEquals(wide({ layout: "nn" }), [0, 5, 6, 1]);
  assertEquals(wide({ layout: "nt" }), [0, 5, 1, 6]);
  const problem = problemOf(matmul, matmul.point({ m: 2, n: 3, k: 4 }));
  assert(problem.referenceKernel("cuda"));
  assertStrictEquals(problem.referenceKernel("metal"), undefined);
});

Deno.test("builds() of matmul have every type, layout and extreme tile", () => {
  const all = distinctBuilds(cudaKernels, cases.built!);
  for (const type of TYPES) {
    const dots = all.filter((b) => b.defines.TYPE === type).map(dotted);
    assertEquals(DOTS.filter((d) => !dots.includes(d)), []);
    for (const layout of ["nn", "nt"]) {
      const tiles = all.filter((b) =>
        b.defines.TYPE === type && b.defines.LAYOUT === layout
      ).map(tile);
      const missing = EXTREMES.filter((e) => !tiles.includes(e));
      // fp32 has no room for the largest ring.
      assertEquals(missing, type === "f32" ? ["64 64 128 4 5"] : []);
    }
  }
});

const DOT = { THREADS: 256, COLS: 4, UNROLL: 2, CLUSTER: 4 };
const router = { m: 4, n: 256, k: 7168, layout: "nt" };
type Rule = keyof typeof dotRules;
/** What a rule says of `DOT` with changes at the router's shape with changes. */
const said = (rule: Rule, values: Values, changes: Partial<typeof DOT>) =>
  dotRules[rule](
    matmul.point({ ...router, ...values }),
    { ...DOT, ...changes },
    h200,
  );

Deno.test("dot is one launch of clusters that share K", () => {
  const shape = { ...router, m: 3, n: 257, ldc: 300, epilogue: "bias+relu" };
  const p = plan("dot", shape, DOT);
  const [launch, ...more] = p.queue;
  assertStrictEquals(more.length, 0);
  assertEquals(p.allocated, []);
  assertStrictEquals(launch!.what, "dot");
  assertEquals(launch!.shape, {
    grid: [65 * 4, 1, 1],
    block: [256, 1, 1],
    cluster: 4,
    waits: true,
  });
  const { A, B, bias, C } = p.operands;
  assertEquals(launch!.args.slice(0, 4).map(memoryOf), [A, B, bias, C]);
  // M, N, K, lda, ldb, ldc, ReLU.
  assertEquals(numbers(launch!.args), [3, 257, 7168, 7168, 7168, 300, 1]);
  const alone = plan("dot", router, { ...DOT, CLUSTER: 1 }).queue[0]!;
  assertStrictEquals(alone.shape!.cluster, undefined);
});

Deno.test("dot reads element by element where 16 bytes do not fit", () => {
  const entry = (values: Values, offset = 0n) =>
    plan("dot", { ...router, ...values }, DOT, { offset }).queue[0]!.what;
  assertStrictEquals(entry({}), "dot");
  assertStrictEquals(entry({ k: 7164 }), "dot_ragged");
  assertStrictEquals(entry({ k: 7164, type: "f32" }), "dot");
  assertStrictEquals(entry({ lda: 7169 }), "dot_ragged");
  assertStrictEquals(entry({ ldb: 7172 }), "dot_ragged");
  assertStrictEquals(entry({ n: 255 }), "dot");
  assertStrictEquals(entry({}, 8n), "dot_ragged");
  // Of B in rows of N only the rows are chunks, and A is read by elements.
  assertStrictEquals(entry({ layout: "nn", k: 7163, lda: 7169 }), "dot");
  assertStrictEquals(entry({ layout: "nn", n: 255 }), "dot_ragged");
  assertStrictEquals(entry({ layout: "nn", ldb: 260 }), "dot_ragged");
});

Deno.test("dot is for at most eight rows, compiled for 1, 2, 4 or 8", () => {
  const point = (m: number) => matmul.point({ ...router, m });
  assertStrictEquals(kernel("dot").unsupported(point(8), h200), undefined);
  assertStrictEquals(
    kernel("dot").unsupported(point(9), h200),
    "M=9: a thread has registers for 8 rows of sums",
  );
  assertEquals(
    [1, 2, 3, 4, 5, 8].map((m) =>
      kernel("dot").builds(point(m), DOT)[0]!.defines.ROWS
    ),
    [1, 2, 4, 4, 8, 8],
  );
});

Deno.test("dotRules name what is wrong with a DOT", () => {
  assertStrictEquals(said("warps", {}, { THREADS: 224 }), undefined);
  assertStrictEquals(
    said("warps", {}, { THREADS: 112 }),
    "sums meet in whole warps, which 112 threads are not",
  );
  assertStrictEquals(said("columns", { n: 4 }, {}), undefined);
  assertStrictEquals(
    said("columns", { n: 2 }, {}),
    "more than half of COLS=4 would be padding",
  );
  assertStrictEquals(
    said("finish", { m: 8, layout: "nn" }, { THREADS: 128, COLS: 32 }),
    "256 sums are more than the 128 threads that finish one each",
  );
  assertMatch(
    said("registers", { m: 8 }, { COLS: 8, UNROLL: 8 }) ?? "",
    /^about \d+ registers a thread are more than 236$/,
  );
  // 7168 / 8 / 4 chunks for 256 threads.
  assertStrictEquals(
    said("unroll", {}, {}),
    "UNROLL=2 is more than twice the 1 steps of a thread",
  );
  assertStrictEquals(said("unroll", {}, { CLUSTER: 1, UNROLL: 4 }), undefined);
  assertStrictEquals(
    said("idle", { k: 1000 }, {}),
    "more than half of the threads would have no part of K=1000",
  );
  assertStrictEquals(
    said("cluster", { n: 2048 }, {}),
    "512 groups of columns fill 132 multiprocessors without clusters",
  );
  const old = { ...h200, arch: "sm_80" };
  assertMatch(
    dotRules.cluster(matmul.point(router), DOT, old) ?? "",
    /^sm_80 has no thread-block clusters/,
  );
});

Deno.test("candidates() of dot are legal at every size, the fullest first", () => {
  for (const layout of ["nn", "nt"]) {
    for (const type of ["bf16", "f32"]) {
      for (const [m, n, k] of [[1, 1, 1], [8, 3, 7], [1, 256, 7168]] as const) {
        const configs = legal("dot", { m, n, k, layout, type });
        assert(configs.length > 0, `${layout} ${type} ${m}x${n}x${k}`);
      }
    }
  }
  const point = matmul.point({ ...router, m: 1 });
  const [first] = legal("dot", { ...router, m: 1 });
  const slow = { THREADS: 128, COLS: 8, UNROLL: 1, CLUSTER: 1 };
  assert(
    predictDot(point, first as typeof DOT, h200) <
      predictDot(point, slow, h200),
  );
});

Deno.test("the first four candidates of dot have the fastest config measured at one row", () => {
  for (
    const [n, k, fastest] of [
      [256, 7168, { THREADS: 448, COLS: 1, UNROLL: 2, CLUSTER: 1 }],
      [1024, 7168, { THREADS: 448, COLS: 2, UNROLL: 2, CLUSTER: 1 }],
      [2112, 7168, { THREADS: 448, COLS: 2, UNROLL: 2, CLUSTER: 1 }],
      [11008, 4096, { THREADS: 256, COLS: 1, UNROLL: 2, CLUSTER: 1 }],
    ] as const
  ) {
    const point = matmul.point({ ...router, type: "bf16", m: 1, n, k });
    const first = [...kernel("dot").candidates(point, h200)]
      .filter(({ illegal }) => illegal === undefined)
      .toSorted((a, b) => a.predicted! - b.predicted!)
      .slice(0, 4).map(({ config }) => formatValues(config));
    assert(first.includes(formatValues(fastest)), `${n}x${k}: ${first}`);
  }
});
