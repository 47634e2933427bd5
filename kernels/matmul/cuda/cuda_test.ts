import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import type { Values } from "../../../bench/model/grid.ts";
import { problemOf } from "../../../bench/model/suite.ts";
import { distinctBuilds } from "../../testdata/cuda_builds.ts";
import { h200 } from "../../testdata/devices.ts";
import { matmul } from "../op.ts";
import { TYPES } from "../point.ts";
import { cases, DOTS, dotted, EXTREMES, tile } from "../testdata/cases.ts";
import { config, kernel, legal, plan, seed } from "../testdata/listener.ts";
import { cudaKernels } from "./cuda.ts";

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
    "grid-k",
    "exchange-k",
    "cluster-k",
    "cluster-k-swapped",
    "wgmma-k",
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
