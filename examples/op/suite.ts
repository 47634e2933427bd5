/**
 * Defines an operation of its own, the softmax of a matrix's rows, with a kernel in C and one in
 * CUDA: `mnkbench check --suite ./suite.ts`, with `--device emulator:sm_90a --m 3 --n 100` without a
 * GPU.
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

/** Returns the softmax of a row of `values`, in f64. */
function softmaxOf(values: Float64Array): Float64Array<ArrayBuffer> {
  const most = values.reduce((a, b) => Math.max(a, b));
  const powers = Float64Array.from(values, (x) => Math.exp(x - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

/** Y[m, n] = softmax of the rows of X[m, n], in fp32. */
export const softmax: Op<Point> = {
  name: "softmax",
  // `--m`, `--n`, `--axis`, tables and pictures take the axes from here.
  axes: [
    { name: "m", about: "rows of X", values: "size" },
    { name: "n", about: "columns of X", values: "size" },
  ],
  point(values) {
    const { m, n } = readAxes(softmax, values);
    return { m: Number(m), n: Number(n) };
  },
  operands: ({ m, n }) => [
    { name: "X", role: "in", type: "f32", rows: m, cols: n, ld: n },
    { name: "Y", role: "out", type: "f32", rows: m, cols: n, ld: n },
  ],
  // N(0, 1); `--fill` chooses others. 0 is the operand's place in `operands`.
  inputs(point, options) {
    const [x] = softmax.operands(point);
    return [stored(options, 0, { count: elementsOf(x!), type: x!.type })];
  },
  // `all` is an output whole, `at` some of its elements by their index.
  reference({ m, n }, [x]) {
    const values = decode(x!, "f32");
    const row = (i: number) => softmaxOf(values.slice(i * n, (i + 1) * n));
    return {
      all() {
        const all = new Float64Array(m * n);
        for (let i = 0; i < m; i++) all.set(row(i), i * n);
        return all;
      },
      at: (_, indices) =>
        Float64Array.from(indices, (at) => row(Math.floor(at / n))[at % n]!),
    };
  },
  // A kernel's sum of n powers in fp32 is off by n/2 roundings of 6e-8 at most, and expf by two.
  // Elements are about 1/n: an atol of 1e-3, as products have, would take zeros for them.
  tolerance: ({ n }) => ({ rtol: 1e-6 + 3e-8 * n, atol: 1e-9 }),
  // The least that any kernel does: a power, a sum and a quotient; X read and Y written once.
  work: ({ m, n }) => ({ flops: 3 * m * n, bytes: 8 * m * n }),
  // The columns of a row by which it is found again.
  key: ({ m, n }) => ({
    a_type: "f32",
    b_type: "f32",
    c_type: "f32",
    acc_type: "f32",
    layout: "nn",
    m,
    n,
    k: 1,
    params: "",
  }),
  // The C parameters of a kernel that has no `args` of its own.
  args: ({ m, n }, { X, Y }) => [mem(X!), mem(Y!), i32(m), i32(n)],
  // Wrong results near the right one, which the tolerance must reject at every point.
  mutants({ m, n }, [x], right) {
    const values = decode(x!, "f32");
    const all = right.all(0);
    const whole = Float64Array.from(values, Math.exp);
    const short = all.map((y, at) => {
      const last = all[at - at % n + n - 1]!;
      return at % n === n - 1 ? 0 : y / (1 - last);
    });
    return [
      { name: "zeros", outputs: [new Float64Array(m * n)] },
      { name: "not divided by the sum", outputs: [whole] },
      { name: "last column dropped", outputs: [short] },
    ];
  },
  edgeCases: [{ m: 1, n: 1 }, { m: 3, n: 17 }, { m: 64, n: 1000 }],
};

const plain = defineLaunch(softmax, {
  name: "plain",
  backend: "cpu",
  source: new URL("./softmax.c", import.meta.url),
  entry: "softmax",
});

const rows = defineLaunch(softmax, {
  name: "rows",
  backend: "cuda",
  idea: "a block for each row",
  source: new URL("./softmax.cu", import.meta.url),
  entry: "softmax",
  tunables: { THREADS: [128, 256, 512] },
  shape: ({ m }, { THREADS }) => ({
    grid: [m, 1, 1],
    block: [THREADS, 1, 1],
  }),
});

export default defineSuite({
  name: "example-op",
  title: "Softmax of rows in fp32",
  op: softmax,
  axes: { m: [16, 256], n: [1024] },
  kernels: [plain, rows],
  baselines: ["plain"],
});
