import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { Values } from "../../../bench/model/grid.ts";
import { h200 } from "../../testdata/devices.ts";
import { memoryOf, numbers, whats } from "../../testdata/listener.ts";
import { matmul } from "../op.ts";
import { config, kernel, legal, plan, seed } from "../testdata/listener.ts";
import { gridOf, predict, rules, type TileConfig } from "./cuda.ts";

Deno.test("decompose-k is partial products, then the split-axis reducer", () => {
  const p = plan("decompose-k", {
    m: 48,
    n: 40,
    k: 8192,
    epilogue: "bias+relu",
  }, config);
  assertEquals(whats(p), ["partial_mma", "sum_split_32"]);
  assertEquals(p.allocated, [64 * 48 * 40 * 4]);
  const [partial, sum] = p.queue;
  // M, N, slice, lda, ldb, groups, whole.
  assertEquals(numbers(partial!.args), [48, 40, 128, 8192, 40, 1, 1]);
  assertEquals(partial!.shape, {
    grid: [3, 3, 64],
    block: [64, 1, 1],
    sharedBytes: 4 * 32 * 64 * 2,
  });
  assertStrictEquals(memoryOf(partial!.args[2]), memoryOf(sum!.args[0]));
  assertStrictEquals(memoryOf(sum!.args[1]), p.operands.bias);
  assertStrictEquals(memoryOf(sum!.args[2]), p.operands.C);
  // M, N, splits, ldc, ReLU.
  assertEquals(numbers(sum!.args), [48, 40, 64, 40, 1]);
  assertEquals(sum!.shape!.grid, [60, 1, 1]);
});

Deno.test("decompose-k narrows its reducer as slices grow", () => {
  const sum = (SPLIT: number) =>
    plan("decompose-k", { m: 16, n: 16, k: 8192 }, { ...config, SPLIT })
      .queue[1]!;
  assertEquals(
    [64, 128, 256].map((s) => [sum(s).what, sum(s).shape!.grid[0]]),
    [["sum_split_32", 8], ["sum_split_16", 16], ["sum_split_8", 32]],
  );
});

Deno.test("decompose-k has another reducer where columns of C lie apart, and no other builds", () => {
  const shape = { m: 48, n: 40, k: 8192, epilogue: "bias+relu" };
  const p = plan("decompose-k", { ...shape, stepc: 2 }, config);
  assertEquals(whats(p), ["partial_mma", "sum_strided"]);
  const [, sum] = p.queue;
  // M, N, splits, column stride, ReLU.
  assertEquals(numbers(sum!.args), [48, 40, 64, 2, 1]);
  assertEquals(sum!.shape, { grid: [60, 1, 1], block: [256, 1, 1] });
  const [strided, dense] = [2, 1].map((stepc) =>
    kernel("decompose-k").builds(matmul.point({ ...shape, stepc }), config)
  );
  assertEquals(strided![0], dense![0]);
  assertEquals(
    [strided![1]!, dense![1]!].map(({ source }) =>
      source.pathname.split("/").at(-1)
    ),
    ["strided.cu", "sums.cu"],
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
  assertStrictEquals(whole({}), 1);
  assertStrictEquals(whole({ n: 17 }), 0);
  assertStrictEquals(whole({ n: 17, layout: "nt" }), 1);
  assertStrictEquals(whole({ lda: 513 }), 0);
  assertStrictEquals(whole({ ldb: 20 }), 0);
  assertStrictEquals(whole({ ldb: 20, type: "f32" }), 1);
  assertStrictEquals(whole({ k: 250 }, { SPLIT: 2 }), 0);
  assertStrictEquals(whole({}, { offset: 2n }), 0);
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
    assertStrictEquals(p.queue.length, 3);
    assertStrictEquals(memoryOf(sum!.args[1]), undefined);
    assertStrictEquals(numbers(sum!.args).at(-1), 0);
    const [from, bias, to] = epilogue!.args.map(memoryOf);
    assertStrictEquals(from, p.operands.C);
    assertStrictEquals(bias, p.operands.bias);
    assertStrictEquals(to, p.operands.C);
    assertEquals(numbers(epilogue!.args), [16, 16, 24, 24, 1]);
  }
});

Deno.test("decompose-k-tile reduces with the tiles of its product", () => {
  const p = plan("decompose-k-tile", { m: 48, n: 40, k: 8192, type: "f32" }, {
    ...config,
    WARPS: 8,
  });
  assertEquals(whats(p), ["partial_ffma", "sum_tile"]);
  assertEquals(p.queue[1]!.shape, { grid: [3, 3, 1], block: [4, 32, 1] });
  // M, N, splits, ldc, BM, ReLU.
  assertEquals(numbers(p.queue[1]!.args), [48, 40, 64, 40, 16, 0]);
});

Deno.test("decompose-k-pdl is decompose-k, its second launch alone overlapping", () => {
  const shape = { m: 16, n: 16, k: 8192, epilogue: "bias+relu" };
  const [pdl, plain] = ["decompose-k-pdl", "decompose-k"].map((name) =>
    plan(name, shape, config)
  );
  assertEquals(whats(pdl!), whats(plain!));
  const [partial, sum] = pdl!.queue;
  assertEquals(partial!.shape, { ...plain!.queue[0]!.shape!, waits: true });
  assertEquals(sum!.shape, { ...plain!.queue[1]!.shape!, overlap: true });
  assertStrictEquals(memoryOf(partial!.args[2]), memoryOf(sum!.args[0]));
});

Deno.test("decompose-k-pdl runs at decompose-k's config, built to overlap", () => {
  const { follows, builds } = kernel("decompose-k-pdl");
  assertStrictEquals(follows, "decompose-k");
  const plain = kernel("decompose-k").builds(seed, config);
  assertEquals(
    builds(seed, config),
    plain.map((b) => ({ ...b, defines: { ...b.defines, PDL: 1 } })),
  );
});

Deno.test("decompose-k-pdl is unsupported where nothing overlaps", () => {
  const { unsupported } = kernel("decompose-k-pdl");
  assertStrictEquals(unsupported(seed, h200), undefined);
  assertStrictEquals(
    unsupported(seed, { ...h200, arch: "sm_80" }),
    "sm_80 has no dependent launch: sm_90 has",
  );
});

Deno.test("rules name what is wrong with a config", () => {
  const at = (rule: keyof typeof rules, more: Values) =>
    rules[rule](seed, { ...config, ...more } as TileConfig, h200);
  for (const rule of Object.values(rules)) {
    assertStrictEquals(rule(seed, config, h200), undefined);
  }
  assertStrictEquals(
    at("split", { SPLIT: 48 }),
    "K=8192 is no multiple of SPLIT=48",
  );
  assertStrictEquals(
    at("slice", { SPLIT: 1024 }),
    "a slice of 8 is shorter than 16",
  );
  assertStrictEquals(
    at("tile", { BM: 32 }),
    "more than half of BM=32 would be padding",
  );
  assertStrictEquals(
    at("tile", { BN: 64 }),
    "more than half of BN=64 would be padding",
  );
  assertStrictEquals(
    at("step", { BK: 128, SPLIT: 128 }),
    "more than half of BK=128 would be padding",
  );
  // 5 * (64 + 64) * 256 * 2
  assertStrictEquals(
    at("shared", { BM: 64, BN: 64, BK: 256, STAGES: 5 }),
    "327680 bytes of shared memory, a block may have 232448",
  );
  const tall = matmul.point({ m: 1 << 21, n: 16, k: 8192 });
  assertStrictEquals(
    rules.grid(tall, { ...config, SPLIT: 64 }, h200),
    "a grid of 1048576 blocks is beyond 65535 along an axis",
  );
});

Deno.test("rules let a tile cover a ragged edge that fills half of it", () => {
  const ragged = matmul.point({ m: 17, n: 33, k: 1024 });
  const at = (BM: number, BN: number) =>
    rules.tile(ragged, { ...config, BM, BN });
  assertStrictEquals(at(32, 64), undefined);
  assert(at(64, 64));
  assert(at(32, 128));
});

Deno.test("gridOf() has group rows, columns, and groups of slices", () => {
  const of = (m: number, n: number, more = {}) =>
    gridOf({ m, n }, { ...config, ...more });
  assertEquals(of(16, 16), [1, 1, 64]);
  assertEquals(of(48, 33), [3, 3, 64]);
  // 300 rows are 19 tiles: three groups of 8, the last not full.
  assertEquals(of(300, 72), [8, 5, 192]);
});

Deno.test("candidates() come best guess first", () => {
  const [first] = legal("decompose-k", { m: 64, n: 64, k: 32768 });
  const us = (c: Values) =>
    predict(matmul.point({ m: 64, n: 64, k: 32768 }), c as TileConfig, {
      units: 132,
    });
  for (const c of legal("decompose-k", { m: 64, n: 64, k: 32768 })) {
    assert(us(first!) <= us(c));
  }
  // One block that does all the work is the worst of predictes.
  assert(us({ ...config, SPLIT: 2 }) > 4 * us(first!));
});
