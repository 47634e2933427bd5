import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import { keyOf, keyText } from "../../bench/row/row.ts";
import { defineSuite } from "../../bench/model/suite.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import type { FakeKernel } from "./fake.ts";
import { memoryOf, multiply, suiteOf } from "../testdata/spine.ts";
import { filled, one, suite, timed } from "../testdata/tuning.ts";

const KEY = keyText(keyOf([...suite.cases("all")][0]!));

Deno.test("choose() lets no wrong config win, and names it in the row", async () => {
  let TILE: unknown;
  const kernel: FakeKernel = {
    ns: (_, defines) => (TILE = defines.TILE, TILE === 16 ? 7000 : 8000),
    run: (args) =>
      TILE === 16 ? memoryOf(args[1]).fill(1, 0, 4) : multiply(args),
  };
  const { row, events, tuned } = await one({ kernel });
  deepStrictEqual([row.status, row.config], ["ok", "TILE=8"]);
  strictEqual(row.note, "wrong at TILE=16");
  const lives = events.filter((e) => e.event === "config")
    .map((e) => `${e.config} ${e.status}`);
  ok(lives.includes("TILE=16 wrong"), lives.join());
  deepStrictEqual([tuned!.failed, tuned!.entry!.config], [1, "TILE=8"]);
});

Deno.test("choose() is wrong where every config is", async () => {
  const kernel: FakeKernel = {
    ns: 7000,
    run: (args) => memoryOf(args[2]).fill(0),
  };
  const { row, tuned } = await one({ kernel });
  deepStrictEqual([row.status, tuned], ["wrong", undefined]);
  match(row.note, /16 of 16 elements mismatch/);
});

Deno.test("choose() compares the configs it is asked to, to the end", async () => {
  const { tuned, row } = await one({
    timings: await filled(),
    probes: { [KEY]: ["TILE=8", "TILE=32", "TILE=999"] },
    kernel: {
      ns: (_, { TILE }) => TILE === 8 ? 9000 : 4000,
      run: multiply,
    },
  });
  strictEqual(row.config, "TILE=32");
  // 9 is more than twice 4 and is timed all the same; nothing is remembered.
  deepStrictEqual(tuned!.finalists, [
    { config: "TILE=32", us: 4 },
    { config: "TILE=8", us: 9 },
  ]);
  strictEqual(tuned!.entry, undefined);
});

Deno.test("run() ends after the check where configs are only tuned", async () => {
  const fixed = await one({
    cases: suiteOf(["tiled"]),
    kernel: { ns: 6000, run: multiply },
    settings: { tune: true },
  });
  deepStrictEqual(
    [fixed.row.status, fixed.tuned!.us, fixed.tuned!.entry],
    ["checked", 6, undefined],
  );
  const { row } = await one({ settings: { tune: true } });
  deepStrictEqual([row.status, row.config], ["checked", "TILE=16"]);
});

/** A kernel whose workspace is its tunable, and whose model prefers the least. */
function hungry(predict?: (_: unknown, config: Values) => number) {
  const source = new URL("./fake.ts", import.meta.url);
  const kernel = defineKernel<MatmulPoint>(matmul, {
    name: "hungry",
    backend: "fake",
    idea: "takes what it is tuned to",
    configs: () => Array.from({ length: 50 }, (_, i) => ({ KIB: 50 - i })),
    ...(predict ? { predict } : {}),
    builds: (_, config) => [{ source, defines: config }],
    prepare({ point, operands, config, program, alloc }) {
      alloc(Number(config.KIB) << 10);
      const step = program({ source, defines: config }, "tiled").step(
        matmul.args(point, operands),
        { grid: [1, 1, 1], block: [1, 1, 1] },
      );
      return { steps: [step] };
    },
  });
  return defineSuite<MatmulPoint>({
    name: "s",
    title: "S",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    kernels: [kernel],
    baselines: [],
  });
}

Deno.test("choose() leaves out configs whose workspace is beyond the limit", async () => {
  const { row, events } = await one({
    cases: hungry(),
    // The more, the faster.
    kernel: { ns: (_, { KIB }) => 9000 - 50 * Number(KIB), run: multiply },
    settings: { workspaceBytes: 20 << 10, search: 0.05 },
  });
  strictEqual(row.config, "KIB=20");
  const told = events.find((e) =>
    e.event === "config" && e.config === "KIB=21"
  );
  ok(told?.event === "config");
  strictEqual(
    told.note,
    "It takes 21504 bytes of workspace, and 20480 are allowed: raise --workspace",
  );
});

Deno.test("choose() times what the level and the model leave", async () => {
  const predict = (_: unknown, { KIB }: Values) => Number(KIB);
  const counts: number[] = [];
  for (const level of [1, 2, 3, 4, 5]) {
    const { events, row } = await one({
      cases: hungry(predict),
      kernel: { ns: (_, { KIB }) => 5000 + 20 * Number(KIB), run: multiply },
      settings: { level, search: 0.05 },
    });
    strictEqual(row.config, "KIB=1");
    counts.push(timed(events).size);
  }
  // Within 1.5x of 1 KiB is one config, but 24 are timed at least.
  deepStrictEqual(counts, [4, 16, 24, 50, 50]);
});
