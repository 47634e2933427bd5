import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { Values } from "../../../bench/model/grid.ts";
import {
  config,
  memoryOf,
  numbers,
  plan,
  whats,
} from "../testdata/listener.ts";

Deno.test("decompose-k is partial products, then the split-axis reducer", () => {
  const p = plan("decompose-k", {
    m: 48,
    n: 40,
    k: 8192,
    epilogue: "bias+relu",
  }, config);
  deepStrictEqual(whats(p), ["partial_mma", "sum_split_32"]);
  deepStrictEqual(p.allocated, [64 * 48 * 40 * 4]);
  const [partial, sum] = p.queue;
  // M, N, slice, lda, ldb, groups, whole.
  deepStrictEqual(numbers(partial!.args), [48, 40, 128, 8192, 40, 1, 1]);
  deepStrictEqual(partial!.shape, {
    grid: [3, 3, 64],
    block: [64, 1, 1],
    sharedBytes: 4 * 32 * 64 * 2,
  });
  strictEqual(memoryOf(partial!.args[2]), memoryOf(sum!.args[0]));
  strictEqual(memoryOf(sum!.args[1]), p.operands.bias);
  strictEqual(memoryOf(sum!.args[2]), p.operands.C);
  // M, N, splits, ldc, ReLU.
  deepStrictEqual(numbers(sum!.args), [48, 40, 64, 40, 1]);
  deepStrictEqual(sum!.shape!.grid, [60, 1, 1]);
});

Deno.test("decompose-k narrows its reducer as slices grow", () => {
  const sum = (SPLIT: number) =>
    plan("decompose-k", { m: 16, n: 16, k: 8192 }, { ...config, SPLIT })
      .queue[1]!;
  deepStrictEqual(
    [64, 128, 256].map((s) => [sum(s).what, sum(s).shape!.grid[0]]),
    [["sum_split_32", 8], ["sum_split_16", 16], ["sum_split_8", 32]],
  );
});

Deno.test("decompose-k copies element by element where 16 bytes do not fit", () => {
  const whole = (values: Values, { offset = 0n, SPLIT = 4 } = {}) =>
    numbers(
      plan("decompose-k", { m: 16, n: 16, k: 512, ...values }, {
        ...config,
        SPLIT,
      }, { offset }).queue[0]!.args,
    ).at(-1);
  strictEqual(whole({}), 1);
  strictEqual(whole({ n: 17 }), 0);
  strictEqual(whole({ n: 17, layout: "nt" }), 1);
  strictEqual(whole({ lda: 513 }), 0);
  strictEqual(whole({ ldb: 20 }), 0);
  strictEqual(whole({ ldb: 20, type: "f32" }), 1);
  strictEqual(whole({ k: 250 }, { SPLIT: 2 }), 0);
  strictEqual(whole({}, { offset: 2n }), 0);
});

Deno.test("decompose-k-unfused sums without the epilogue, then applies it in place", () => {
  for (const name of ["decompose-k-unfused", "decompose-k-tile-unfused"]) {
    const p = plan(name, {
      m: 16,
      n: 16,
      k: 8192,
      ldc: 24,
      epilogue: "bias+relu",
    }, config);
    const [, sum, epilogue] = p.queue;
    strictEqual(p.queue.length, 3);
    strictEqual(memoryOf(sum!.args[1]), undefined);
    strictEqual(numbers(sum!.args).at(-1), 0);
    const [from, bias, to] = epilogue!.args.map(memoryOf);
    strictEqual(from, p.operands.C);
    strictEqual(bias, p.operands.bias);
    strictEqual(to, p.operands.C);
    deepStrictEqual(numbers(epilogue!.args), [16, 16, 24, 24, 1]);
  }
});

Deno.test("decompose-k-tile reduces with the tiles of its product", () => {
  const p = plan("decompose-k-tile", { m: 48, n: 40, k: 8192, type: "f32" }, {
    ...config,
    WARPS: 8,
  });
  deepStrictEqual(whats(p), ["partial_ffma", "sum_tile"]);
  deepStrictEqual(p.queue[1]!.shape, { grid: [3, 3, 1], block: [4, 32, 1] });
  // M, N, splits, ldc, BM, ReLU.
  deepStrictEqual(numbers(p.queue[1]!.args), [48, 40, 64, 40, 16, 0]);
});
