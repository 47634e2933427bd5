import { assertEquals, assertStrictEquals } from "@std/assert";
import { encode } from "../../bench/model/dtype.ts";
import { linesOf, product, SampledProduct, storedMatrix } from "./product.ts";

const fractions = (count: number, step: number) =>
  Float64Array.from({ length: count }, (_, i) => (i * step % 31 - 15) / 8);

/** A and B in bf16, with padding, and their product by definition over k in [`from`, `to`). */
function example(
  { m, n, k, layout }: {
    readonly m: number;
    readonly n: number;
    readonly k: number;
    readonly layout: "nn" | "nt";
  },
) {
  const [lda, ldb] = [k + 3, (layout === "nn" ? n : k) + 1];
  const [x, w] = [
    fractions(m * lda, 7),
    fractions((layout === "nn" ? k : n) * ldb, 11),
  ];
  const b = (p: number, j: number) =>
    w[layout === "nn" ? p * ldb + j : j * ldb + p]!;
  const terms = (i: number, j: number, [from, to]: readonly number[]) =>
    Array.from(
      { length: to! - from! },
      (_, p) => x[i * lda + from! + p]! * b(from! + p, j),
    );
  return {
    a: { bytes: encode(x, "bf16"), ld: lda },
    b: { bytes: encode(w, "bf16"), ld: ldb },
    terms,
    sum: (i: number, j: number, range: readonly number[] = [0, k]) =>
      terms(i, j, range).reduce((sum, term) => sum + term, 0),
  };
}

const SHAPES = [
  // Rows and columns that are no whole groups of four, and K beyond what stays in a cache.
  { m: 3, n: 7, k: 4099 },
  { m: 2, n: 70, k: 1100 },
  { m: 1, n: 1, k: 1 },
] as const;

for (const layout of ["nn", "nt"] as const) {
  Deno.test(`product() is the sum of products, ${layout}, whole and in part`, () => {
    for (const shape of SHAPES) {
      const { m, n, k } = shape;
      const { a, b, sum } = example({ ...shape, layout });
      const left = storedMatrix(a.bytes, "bf16", a.ld);
      const right = storedMatrix(b.bytes, "bf16", b.ld);
      for (const range of [[0, k], [Math.floor(k / 3), k]] as const) {
        const wanted = Array.from(
          { length: m * n },
          (_, at) => sum(Math.floor(at / n), at % n, range),
        );
        assertEquals(
          [...product({ ...shape, layout }, left, right, range)],
          wanted,
        );
      }
    }
  });

  Deno.test(`SampledProduct gives elements and the size of their terms, ${layout}`, () => {
    const shape = { m: 3, n: 7, k: 130, layout };
    const { a, b, sum, terms } = example(shape);
    const { k, n } = shape;
    const stored = linesOf(b.bytes, "bf16", { ld: b.ld, k });
    const looks = new SampledProduct(
      n,
      linesOf(a.bytes, "bf16", { ld: a.ld, k }).row,
      layout === "nn" ? stored.column : stored.row,
    );
    assertEquals([...looks.at([0, 9, 20])], [sum(0, 0), sum(1, 2), sum(2, 6)]);
    const [, , norm] = looks.norms([1, 2], [4, 6]);
    const square = terms(2, 4, [0, k]).reduce(
      (all, term) => all + term * term,
      0,
    );
    assertStrictEquals(norm, Math.sqrt(square));
  });
}

Deno.test("SampledProduct makes a row and a column once", () => {
  const made: string[] = [];
  const of = (what: string) => (index: number) => {
    made.push(`${what} ${index}`);
    return [index];
  };
  const looks = new SampledProduct(2, of("row"), of("column"));
  assertEquals([...looks.at([0, 1, 3])], [0, 0, 1]);
  assertEquals([...looks.norms([1], [1])], [1]);
  assertEquals(made, ["row 0", "column 0", "column 1", "row 1"]);
});
