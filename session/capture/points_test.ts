import { assert, assertEquals } from "@std/assert";
import { encode } from "../../bench/model/dtype.ts";
import { matmul } from "../../kernels/matmul/mod.ts";
import type { MatmulPoint } from "../../kernels/matmul/mod.ts";
import {
  type BlasCall,
  type GemmColumns,
  pointOfGemm,
  rowMajor,
} from "./points.ts";

/** What a point needs beside sizes, types and layout. */
const REST = {
  batch: 1,
  c: "f32",
  compute: "f32",
  epilogue: "none",
  beta_nonzero: false,
};

/** Stored values: whole numbers, so that every sum is exact. */
function numbers(count: number, seed: number): Float64Array<ArrayBuffer> {
  return Float64Array.from(
    { length: count },
    (_, i) => (i * 7 + seed) % 11 - 5,
  );
}

/** Computes op(A) · op(B) as BLAS defines it: every matrix is column-major. */
function blas(
  { m, n, k, transA, transB, lda, ldb, ldc }: BlasCall,
  a: Float64Array,
  b: Float64Array,
): Float64Array {
  const c = new Float64Array(ldc * n);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      for (let p = 0; p < k; p++) {
        const left = transA === "N" ? a[i + p * lda] : a[p + i * lda];
        const right = transB === "N" ? b[p + j * ldb] : b[j + p * ldb];
        c[i + j * ldc]! += left! * right!;
      }
    }
  }
  return c;
}

const SIZES = [[3, 5, 7], [1, 5, 7], [3, 1, 7], [3, 5, 1], [1, 1, 1]] as const;
const LETTERS = ["N", "T", "C"] as const;

for (const transA of LETTERS) {
  for (const transB of LETTERS) {
    Deno.test(`pointOfGemm() computes what BLAS does of ${transA}${transB}`, () => {
      let points = 0;
      for (const [m, n, k] of SIZES) {
        for (const pad of [0, 2]) {
          const call: BlasCall = {
            m,
            n,
            k,
            transA,
            transB,
            a: "f32",
            b: "f32",
            lda: (transA === "N" ? m : k) + pad,
            ldb: (transB === "N" ? k : n) + pad,
            ldc: m + pad,
          };
          const a = numbers(call.lda * (transA === "N" ? k : m), 1);
          const b = numbers(call.ldb * (transB === "N" ? n : k), 2);
          const wanted = blas(call, a, b);
          const gemm = { ...REST, ...rowMajor(call) };
          const found = pointOfGemm(gemm);
          if (typeof found === "string") {
            assertEquals(found, "A is stored transposed");
            assert(gemm.layout.startsWith("t"));
            continue;
          }
          points++;
          const point = matmul.point(found.values);
          // The transposed product takes the operands in the order of the call.
          const isSwapped = gemm.layout.startsWith("t") && gemm.k > 1 &&
            point.m !== gemm.m;
          const all = resultOf(point, isSwapped ? [a, b] : [b, a]);
          for (let i = 0; i < point.m; i++) {
            for (let j = 0; j < point.n; j++) {
              assertEquals(all[i * point.n + j], wanted[i * point.ldc + j]);
            }
          }
        }
      }
      // Of Bᵀ only vectors are the same memory.
      assert(transB === "N" ? points === 10 : points > 1 && points < 10);
    });
  }
}

/** The product of `stored` memory at `point`: what lies behind a row's end may be missing. */
function resultOf(
  point: MatmulPoint,
  stored: readonly Float64Array<ArrayBuffer>[],
): Float64Array {
  const bytes = matmul.operands(point).filter(({ role }) => role === "in")
    .map(({ rows, ld }, i) => {
      const values = new Float64Array(rows * ld);
      values.set(stored[i]!.subarray(0, rows * ld));
      return encode(values, "f32");
    });
  return matmul.reference(point, bytes).all(0);
}

/** A layer of 16 tokens. */
const LAYER: GemmColumns = {
  m: 16,
  n: 512,
  k: 4096,
  a: "bf16",
  b: "bf16",
  layout: "nt",
  lda: 4096,
  ldb: 4096,
  ldc: 512,
  ...REST,
  c: "bf16",
};
const FP8: GemmColumns = { ...LAYER, a: "e4m3", b: "e4m3" };

Deno.test("pointOfGemm() names the columns of the op's rows", () => {
  assertEquals(pointOfGemm(LAYER), {
    op: "matmul",
    values: {
      m: 16,
      n: 512,
      k: 4096,
      type: "bf16",
      epilogue: "none",
      layout: "nt",
    },
    key: {
      a_type: "bf16",
      b_type: "bf16",
      c_type: "bf16",
      acc_type: "f32",
      layout: "nt",
      m: 16,
      n: 512,
      k: 4096,
      params: "epilogue=none",
    },
  });
  const scaled = pointOfGemm({ ...FP8, scale: "row" });
  assert(typeof scaled !== "string");
  assertEquals([scaled.op, scaled.key.params], ["scaled-matmul", "scale=row"]);
  const mixed = pointOfGemm({
    ...LAYER,
    c: "f32",
    lda: 5000,
    epilogue: "bias",
  });
  assert(typeof mixed !== "string");
  assertEquals(mixed.key.params, "epilogue=bias type_c=f32 lda=5000");
});

Deno.test("pointOfGemm() leaves out strides of matrices of one row", () => {
  const one = { ...LAYER, m: 1, lda: 9000, ldc: 600 };
  const found = pointOfGemm(one);
  assert(typeof found !== "string");
  assertEquals(found.key.params, "epilogue=none");
  assertEquals(
    typeof pointOfGemm({ ...FP8, m: 1, lda: 9000, ldc: 600 }),
    "object",
  );
});

const UNCOVERED: readonly (readonly [GemmColumns, string])[] = [
  [{ ...LAYER, batch: 8 }, "a batch of 8 products"],
  [{ ...LAYER, beta_nonzero: true }, "C is added to the product"],
  [{ ...LAYER, compute: "tf32" }, "it sums in tf32"],
  [{ ...LAYER, a: "i8", b: "i8" }, "its types are i8, i8 and bf16"],
  [{ ...LAYER, epilogue: "gelu" }, "its epilogue is gelu"],
  [{ ...LAYER, layout: "tn", lda: 16 }, "A is stored transposed"],
  [{ ...LAYER, lda: 100 }, "lda is 100, less than a row of 4096"],
  [{ ...FP8, c: "f16" }, "its types are e4m3, e4m3 and f16"],
  [{ ...FP8, b: "bf16" }, "its types are e4m3, bf16 and bf16"],
  [{ ...FP8, epilogue: "bias" }, "its epilogue is bias in FP8"],
  [{ ...FP8, scale: "vec32" }, "its scales are vec32"],
  [{ ...FP8, layout: "nn", ldb: 512 }, "its layout is nn in FP8"],
  [{ ...FP8, lda: 8192 }, "its rows are padded in FP8"],
];

for (const [gemm, why] of UNCOVERED) {
  Deno.test(`pointOfGemm() has no op: ${why}`, () => {
    assertEquals(pointOfGemm(gemm), why);
  });
}

Deno.test("pointOfGemm() keeps a bias for columns of C", () => {
  const column = { ...LAYER, n: 1, ldc: 1, layout: "tt", lda: 16 } as const;
  assert(typeof pointOfGemm(column) !== "string");
  assertEquals(
    pointOfGemm({ ...column, epilogue: "bias" }),
    "A is stored transposed",
  );
});
