import type { KnownConfigs } from "../../bench/tune/config_book.ts";
import type { Settings } from "../../bench/model/settings.ts";
import type { Event, Tuned } from "../../bench/worker/protocol.ts";
import { TimingCache } from "../../bench/tune/timing_cache.ts";
import type { FakeKernel } from "./fake.ts";
import { memoryOf, multiply, rowsOf, suiteOf } from "../testdata/spine.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import { caseText, keyOf } from "../../bench/row/row.ts";
import { defineSuite } from "../../bench/model/suite.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";

/** Values of the tunable. */
const TILES = [8, 16, 32];
/** One case, one kernel, three configs. */
const suite = suiteOf(["tiled"], { TILE: TILES });

/** 7 µs at TILE=16, 8 µs elsewhere. */
const tiled: FakeKernel = {
  ns: (_, { TILE }) => TILE === 16 ? 7000 : 8000,
  run: multiply,
};

/** The configs that were looked at. */
const timed = (events: readonly Event[]) =>
  new Set(events.flatMap((e) => e.event === "config" ? [e.config] : []));

/** Runs the only case, with what is in `timings`. */
async function one(
  { timings = new TimingCache(), kernel = tiled, cases = suite, ...more }: {
    timings?: TimingCache;
    kernel?: FakeKernel;
    cases?: typeof suite;
    settings?: Partial<Settings>;
    known?: KnownConfigs;
  } = {},
) {
  const { rows, events } = await rowsOf(cases, {
    kernels: { tiled: kernel },
    timings,
    ...more,
    settings: { search: 0.1, ...more.settings },
  });
  return {
    row: rows[0]!,
    events,
    tuned: events.find((e): e is Tuned => e.event === "tuned"),
  };
}

/** A cache that knows what a search found. */
async function filled(
  settings: Partial<Settings> = {},
): Promise<TimingCache> {
  const { tuned } = await one({ settings });
  return new TimingCache([tuned!.entry!]);
}

const KEY = caseText(keyOf([...suite.cases("all")][0]!));

Deno.test("choose() lets no wrong config win, and names it in the row", async () => {
  let TILE: unknown;
  const kernel: FakeKernel = {
    ns: (_, defines) => (TILE = defines.TILE, TILE === 16 ? 7000 : 8000),
    run: (args) =>
      TILE === 16 ? memoryOf(args[1]).fill(1, 0, 4) : multiply(args),
  };
  const { row, events, tuned } = await one({ kernel });
  assertEquals([row.status, row.config], ["ok", "TILE=8"]);
  assertStrictEquals(row.note, "wrong at TILE=16");
  const lives = events.filter((e) => e.event === "config")
    .map((e) => `${e.config} ${e.status}`);
  assert(lives.includes("TILE=16 wrong"), lives.join());
  assertEquals([tuned!.failed, tuned!.entry!.config], [1, "TILE=8"]);
});

Deno.test("choose() is wrong where every config is", async () => {
  const kernel: FakeKernel = {
    ns: 7000,
    run: (args) => memoryOf(args[2]).fill(0),
  };
  const { row, tuned } = await one({ kernel });
  assertEquals([row.status, tuned], ["wrong", undefined]);
  assertMatch(row.note, /16 of 16 elements mismatch/);
});

Deno.test("choose() compares the configs it is asked to, to the end", async () => {
  const { tuned, row } = await one({
    timings: await filled(),
    known: { among: { [KEY]: ["TILE=8", "TILE=32", "TILE=999"] } },
    kernel: {
      ns: (_, { TILE }) => TILE === 8 ? 9000 : 4000,
      run: multiply,
    },
  });
  assertStrictEquals(row.config, "TILE=32");
  // 9 is more than twice 4 and is timed all the same; nothing is remembered.
  assertEquals(tuned!.finalists, [
    { config: "TILE=32", us: 4 },
    { config: "TILE=8", us: 9 },
  ]);
  assertStrictEquals(tuned!.entry, undefined);
});

Deno.test("choose() adds what searches took that ended with their workers", async () => {
  const { row, tuned } = await one({ known: { spent: { [KEY]: 1e6 } } });
  // This search took milliseconds.
  assert(Number(row.provenance.search_ms) >= 1e6);
  assert(tuned!.ms >= 1e6);
});

Deno.test("run() ends after the check where configs are only tuned", async () => {
  const fixed = await one({
    cases: suiteOf(["tiled"]),
    kernel: { ns: 6000, run: multiply },
    settings: { tune: true },
  });
  assertEquals(
    [fixed.row.status, fixed.tuned!.us, fixed.tuned!.entry],
    ["checked", 6, undefined],
  );
  const { row } = await one({ settings: { tune: true } });
  assertEquals([row.status, row.config], ["checked", "TILE=16"]);
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
  assertStrictEquals(row.config, "KIB=20");
  const told = events.find((e) =>
    e.event === "config" && e.config === "KIB=21"
  );
  assert(told?.event === "config");
  assertStrictEquals(
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
    assertStrictEquals(row.config, "KIB=1");
    counts.push(timed(events).size);
  }
  // Within 1.5x of 1 KiB is one config, but 24 are timed at least.
  assertEquals(counts, [4, 16, 24, 50, 50]);
});

Deno.test("choose() says what it found, as an entry to remember", async () => {
  const { tuned, row } = await one();
  const { us, config, error, level, date, key } = tuned!.entry!;
  assertEquals(
    { us, config, level, date },
    { us: 7, config: "TILE=16", level: 3, date: "2026-01-01T00:00:00Z" },
  );
  assert(row.status === "ok");
  assertStrictEquals(error.max_abs, row.accuracy.max_abs_err);
  assertEquals(
    [key.device, key.compiler, key.m, key.timer, key.alignment, key.harness],
    ["Fake GPU", "fakecc 1", "4", "do_bench", "8", "0.0.0"],
  );
});

Deno.test("choose() takes a config from the timing cache, and says so in the row", async () => {
  const timings = await filled();
  const { row, events, tuned } = await one({ timings });
  assertEquals([row.config, row.config_by], ["TILE=16", "cache"]);
  assertEquals(
    [row.provenance.search_configs, row.provenance.search_ms],
    [0, 0],
  );
  assertStrictEquals(timed(events).size, 0);
  assertEquals([tuned!.by, tuned!.us, tuned!.entry], [
    "cache",
    7,
    undefined,
  ]);
});

Deno.test("choose() misses where anything differs that could make another config better", async () => {
  const timings = await filled();
  const misses: readonly Partial<Settings>[] = [
    { timer: "graph" },
    { cache: "warm" },
    { flush: "read" },
    { fill: "integers" },
    { workspaceBytes: 1 << 20 },
    { level: 4 },
  ];
  for (const settings of misses) {
    const { row } = await one({ timings, settings });
    assertStrictEquals(row.config_by, "search", JSON.stringify(settings));
  }
  const more = suiteOf(["tiled"], { TILE: [...TILES, 64] });
  assertStrictEquals(
    (await one({ timings, cases: more })).row.config_by,
    "search",
  );
  for (const settings of [{ seed: 9 }, { warmup: 0.2 }, { level: 2 }]) {
    const { row } = await one({ timings, settings });
    assertStrictEquals(row.config_by, "cache", JSON.stringify(settings));
  }
});

Deno.test("choose() tunes again what was found at a lower level", async () => {
  const timings = await filled({ level: 1 });
  const { row, tuned } = await one({ timings });
  assertStrictEquals(row.config_by, "search");
  assertStrictEquals(tuned!.entry!.level, 3);
});

Deno.test("choose() does not run a remembered config that is not legal", async () => {
  const timings = await filled();
  const [[id]] = timings.entries as [[string, unknown]];
  timings.edit(id, "TILE=128");
  assertStrictEquals((await one({ timings })).row.config, "TILE=16");
  const { row } = await one({ timings, settings: { demandCached: true } });
  assertMatch(
    row.note,
    /its entry has the config TILE=128, which is not legal/,
  );
});

Deno.test("choose() fails a miss where the timing cache was to have it", async () => {
  const settings = { demandCached: true, timer: "graph" } as const;
  const { row, events } = await one({ settings });
  assertStrictEquals(row.status, "untuned");
  assertStrictEquals(
    row.note,
    "The timing cache does not know its config (it has no entry): tune it first",
  );
  assertStrictEquals(timed(events).size, 0);
  const timings = await filled({ timer: "graph" });
  assertStrictEquals((await one({ timings, settings })).row.status, "ok");
});

Deno.test("choose() ignores the timing cache at level 0 and takes the first legal config", async () => {
  const { row, tuned } = await one({
    timings: await filled(),
    settings: { level: 0 },
  });
  assertEquals([row.config, row.config_by], ["TILE=8", "first"]);
  assertStrictEquals(tuned, undefined);
});

Deno.test("choose() checks and runs once at the remembered config", async () => {
  const timings = await filled();
  for (const settings of [{ checkOnly: true }, { once: true }]) {
    assertStrictEquals(
      (await one({ timings, settings })).row.config,
      "TILE=16",
    );
  }
});

Deno.test("choose() remembers values that read as others, such as texts with spaces", async () => {
  const seen = new Set<unknown>();
  const kernel: FakeKernel = {
    ns: (_, { TILE }) => (seen.add(TILE), TILE === "8 + 8" ? 7000 : 8000),
    run: multiply,
  };
  const cases = suiteOf(["tiled"], { TILE: ["01", "8 + 8"] });
  const { tuned } = await one({ kernel, cases });
  assertEquals([...seen].sort(), ["01", "8 + 8"]);
  seen.clear();
  const timings = new TimingCache([tuned!.entry!]);
  const { row } = await one({ kernel, cases, timings });
  assertEquals([row.status, row.config_by], ["ok", "cache"], row.note);
  assertEquals([...seen], ["8 + 8"]);
});

Deno.test("choose() says which config it is at, before one that may be its last", async () => {
  const { events } = await one();
  const notes = events.flatMap((e) => e.event === "progress" ? [e.note] : []);
  assertEquals(
    notes.filter((note) => note.startsWith("search")).slice(0, 3),
    TILES.map((tile, i) => `search ${i}/3, at TILE=${tile}`),
  );
  assert(notes.includes("check, at TILE=16"), notes.join("\n"));
});

Deno.test("run() says of a remembered config that fails how to forget it", async () => {
  const timings = await filled();
  const kernel: FakeKernel = { ns: () => 1000, run() {} };
  const { row } = await one({ timings, kernel });
  assertEquals([row.status, row.config, row.config_by], [
    "wrong",
    "TILE=16",
    "cache",
  ]);
  assertMatch(
    row.note,
    /; its config is from the timing cache$/,
  );
});
