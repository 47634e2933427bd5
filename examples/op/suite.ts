/**
 * Defines an operation of its own, the sums of a matrix's rows, with one C kernel:
 * `mnkbench check --suite ./suite.ts --backend cpu`.
 */

import {
  decode,
  defineLaunch,
  defineSuite,
  elementsOf,
  i32,
  mem,
  type Op,
  readAxes,
  stored,
} from "mnkbench";

interface Point {
  readonly m: number;
  readonly n: number;
}

/** C[m, 1] = sums of the rows of A[m, n], in fp32. */
const rowSums: Op<Point> = {
  name: "row-sums",
  axes: [
    { name: "m", about: "rows of A", values: "size" },
    { name: "n", about: "columns of A", values: "size" },
  ],
  point(values) {
    const { m, n } = readAxes(rowSums, values);
    return { m: Number(m), n: Number(n) };
  },
  operands: ({ m, n }) => [
    { name: "A", role: "in", type: "f32", rows: m, cols: n, ld: n },
    { name: "C", role: "out", type: "f32", rows: m, cols: 1, ld: 1 },
  ],
  inputs(point, options) {
    const [a] = rowSums.operands(point);
    return [stored(options, 0, { count: elementsOf(a!), type: a!.type })];
  },
  reference({ m, n }, [a]) {
    const values = decode(a!, "f32");
    const sum = (row: number) => {
      let total = 0;
      for (let j = 0; j < n; j++) total += values[row * n + j]!;
      return total;
    };
    return {
      all: () => Float64Array.from({ length: m }, (_, row) => sum(row)),
      at: (_, rows) => Float64Array.from(rows, sum),
    };
  },
  tolerance: () => ({ rtol: 1e-4, atol: 1e-3 }),
  work: ({ m, n }) => ({ flops: m * (n - 1), bytes: 4 * (m * n + m) }),
  key: ({ m, n }) => ({
    ...{ a_type: "f32", b_type: "f32", c_type: "f32", acc_type: "f32" },
    ...{ layout: "nn", m, n, k: 1, params: "" },
  }),
  args: ({ m, n }, { A, C }) => [mem(A!), mem(C!), i32(m), i32(n)],
  // Wrong results that the tolerance must reject: no sums, and sums without the last column.
  mutants({ m, n }, [a], right) {
    const values = decode(a!, "f32");
    const short = right.all(0).map((sum, row) =>
      sum - values[row * n + n - 1]!
    );
    return [
      { name: "zeros", outputs: [new Float64Array(m)] },
      { name: "last column dropped", outputs: [short] },
    ];
  },
  edgeCases: [{ m: 1, n: 1 }, { m: 3, n: 17 }, { m: 64, n: 1000 }],
};

const plain = defineLaunch(rowSums, {
  name: "plain",
  backend: "cpu",
  source: new URL("./row_sums.c", import.meta.url),
  entry: "row_sums",
});

export default defineSuite({
  name: "example-op",
  title: "Sums of rows in fp32",
  op: rowSums,
  axes: { m: [16, 256], n: [1024] },
  kernels: [plain],
  baselines: ["plain"],
});
