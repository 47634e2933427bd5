import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import type { Memory } from "../../../bench/device/queue.ts";
import { formatValues, type Values } from "../../../bench/model/grid.ts";
import { sharedBytes, stagesOf } from "./best_configs.ts";
import { cudaKernels } from "./cuda.ts";
import { groupedMatmul } from "../op.ts";
import { listen, whats } from "../../testdata/listener.ts";
import { benchPoints } from "../testdata/cases.ts";
import { BENCH_LISTS, problemTable } from "../point.ts";
import { h200 } from "../../testdata/devices.ts";

const shape = (name: string) =>
  benchPoints[BENCH_LISTS.findIndex((list) => list.name === name)]!;
const kernel = (name: string) => cudaKernels.find((k) => k.name === name)!;

/** What `name` would queue at a point. */
const plan = (name: string, values: Values, config: Values = {}) =>
  listen(groupedMatmul, kernel(name), { values, config });

Deno.test("cudaKernels are in the order of the entry that they follow", () => {
  assertEquals(cudaKernels.map(({ name }) => name), [
    "per-group",
    "persistent",
    "cluster",
    "best",
    "blackwell",
  ]);
});

Deno.test("unsupported() says what is not of whole copies, and which device it takes", () => {
  const point = groupedMatmul.point({ m: "8+8", n: 64, k: "64+48" });
  const narrow = groupedMatmul.point({ m: 8, n: 60, k: 64 });
  const fine = groupedMatmul.point({ m: 8, n: 64, k: 64 });
  // What blackwell says has tests of its own: it never runs on such a device.
  for (const one of cudaKernels.filter(({ name }) => name !== "blackwell")) {
    assertMatch(one.unsupported(point, h200)!, /^K=48 is no multiple of 64/);
    assertMatch(one.unsupported(narrow, h200)!, /^N=60 is no multiple of 8/);
    assertStrictEquals(one.unsupported(fine, h200), undefined);
    assertMatch(one.unsupported(fine, { ...h200, arch: "sm_80" })!, /^sm_80 /);
  }
  assertMatch(
    kernel("best").unsupported(fine, { ...h200, arch: "sm_100a" })!,
    /^sm_100a has no wgmma/,
  );
});

Deno.test("per-group launches and waits for each problem that has rows", () => {
  const { queue, steps } = plan("per-group", { m: "80+0+65", n: 128, k: 64 });
  assertEquals(queue.map(({ shape }) => shape!.grid), [[2, 2, 1], [
    2,
    2,
    1,
  ]]);
  assertEquals(steps.map(({ capturable }) => capturable), [
    true,
    false,
    true,
    false,
  ]);
});

Deno.test("persistent has one launch, of no more blocks than tiles", () => {
  const small = plan("persistent", { m: "80+65", n: 128, k: 64 });
  assertEquals(small.queue.map(({ shape }) => shape!.grid), [[8, 1, 1]]);
  const large = plan("persistent", { m: "512+512", n: 4096, k: 64 });
  assertEquals(large.queue[0]!.shape!.grid, [6 * 132, 1, 1]);
});

Deno.test("candidates() of every kernel leave some config at each list and edge-case shape", () => {
  const points = [...groupedMatmul.edgeCases, ...benchPoints];
  for (const one of cudaKernels) {
    for (const point of points) {
      if (one.unsupported(point, h200)) continue;
      const legal = [...one.candidates(point, h200)].filter((c) => !c.illegal);
      assert(
        legal.length > 0,
        `${one.name} ${groupedMatmul.key(point).params}`,
      );
    }
  }
});

Deno.test("candidates() of best name the rule that a config breaks", () => {
  const rules = (point: Parameters<typeof groupedMatmul.key>[0]) =>
    new Set(
      [...kernel("best").candidates(point, h200)].map(({ rule }) => rule),
    );
  assertEquals(rules(shape("D")), new Set([undefined]));
  const few = groupedMatmul.point({ m: 20, n: 128, k: 64 });
  assertEquals(rules(few), new Set([undefined, "tokens"]));
});

Deno.test("stagesOf() takes all shared memory but what is less than a stage", () => {
  for (
    const { config, illegal } of kernel("best").candidates(shape("A"), h200)
  ) {
    if (illegal) continue;
    const best = config as Parameters<typeof stagesOf>[0];
    const bytes = sharedBytes(best);
    assert(bytes <= h200.sharedBytes, JSON.stringify(config));
    const rows = 64 * best.WARPGROUPS;
    const stage = 2 * (128 * best.MAXN + 36 * rows) + 16;
    assert(stagesOf(best) === 8 || bytes + stage > h200.sharedBytes);
  }
});

Deno.test("predict() of best orders configs by what limits them", () => {
  const at = (name: string, config: Values, PIECES = 0) => {
    const text = formatValues({ MAXN: 128, ...config, PIECES });
    const all = [...kernel("best").candidates(shape(name), h200)];
    return all.find((c) => formatValues(c.config) === text)!.predicted!;
  };
  const tall = { STEP: 16, WARPGROUPS: 4 };
  // Blocks of 128 rows leave none idle at short lists.
  assert(at("C", { MAXN: 256, STEP: 16, WARPGROUPS: 2 }) < at("C", tall));
  // 40, 76 and 196 tokens are 24 more in steps of 16 than in steps of 8.
  assert(at("B", { ...tall, STEP: 8 }) < at("B", tall));
  // Two tiles of list A for three multiprocessors: cut along K, they fill all.
  assert(at("A", tall, 1) < 0.9 * at("A", tall));
});

Deno.test("best packs tokens, then starts early", () => {
  const { queue } = plan("best", { m: "80+65", n: 4096, k: 128 }, {
    MAXN: 128,
    STEP: 16,
    WARPGROUPS: 4,
    PIECES: 0,
  });
  assertEquals(whats({ queue }), ["tokens", "best"]);
  // A warp for four of 80 and of 65 tokens, in blocks of eight warps.
  assertEquals(queue[0]!.shape!.grid, [5, 1, 1]);
  const { grid, block, overlap } = queue[1]!.shape!;
  assertEquals(grid, [64, 1, 1]);
  assertEquals([block, overlap], [[640, 1, 1], true]);
});

Deno.test("problemTable() has a row of 64 bytes for each problem that has rows", () => {
  const point = groupedMatmul.point({ m: "3+0+5", n: 8, k: 16 });
  const operands = Object.fromEntries(
    groupedMatmul.operands(point).map(({ name }, i) => [
      name,
      { address: BigInt(i + 1) << 8n } as Memory,
    ]),
  );
  const table = new DataView(problemTable(point, operands).buffer);
  assertStrictEquals(table.byteLength, 128);
  assertEquals(
    [0, 8, 16, 24, 32].map((at) => table.getBigUint64(64 + at, true)),
    [
      ...[6n << 8n, 7n << 8n, 8n << 8n, 9n << 8n, 10n << 8n],
    ],
  );
  assertEquals([40, 44, 48].map((at) => table.getInt32(64 + at, true)), [
    ...[5, 8, 16],
  ]);
});
