import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { Settings } from "../../bench/model/settings.ts";
import { TimingCache } from "../../bench/tune/timing_cache.ts";
import type { FakeKernel } from "./fake.ts";
import { multiply, suiteOf } from "../testdata/spine.ts";
import { filled, one, TILES, timed } from "../testdata/tuning.ts";

Deno.test("choose() says what it found, as an entry to remember", async () => {
  const { tuned, row } = await one();
  const { us, config, error, level, date, key } = tuned!.entry!;
  deepStrictEqual(
    { us, config, level, date },
    { us: 7, config: "TILE=16", level: 3, date: "2026-01-01T00:00:00Z" },
  );
  ok(row.status === "ok");
  strictEqual(error.max_abs, row.accuracy.max_abs_err);
  deepStrictEqual(
    [key.device, key.compiler, key.m, key.timer, key.alignment, key.harness],
    ["Fake GPU", "fakecc 1", "4", "do_bench", "8", "0.0.0"],
  );
});

Deno.test("choose() takes a config from the timing cache, and says so in the row", async () => {
  const timings = await filled();
  const { row, events, tuned } = await one({ timings });
  deepStrictEqual([row.config, row.config_by], ["TILE=16", "cache"]);
  deepStrictEqual(
    [row.provenance.search_configs, row.provenance.search_ms],
    [0, 0],
  );
  strictEqual(timed(events).size, 0);
  deepStrictEqual([tuned!.by, tuned!.us, tuned!.entry], [
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
    strictEqual(row.config_by, "search", JSON.stringify(settings));
  }
  const more = suiteOf(["tiled"], { TILE: [...TILES, 64] });
  strictEqual((await one({ timings, cases: more })).row.config_by, "search");
  for (const settings of [{ seed: 9 }, { warmup: 0.2 }, { level: 2 }]) {
    const { row } = await one({ timings, settings });
    strictEqual(row.config_by, "cache", JSON.stringify(settings));
  }
});

Deno.test("choose() tunes again what was found at a lower level", async () => {
  const timings = await filled({ level: 1 });
  const { row, tuned } = await one({ timings });
  strictEqual(row.config_by, "search");
  strictEqual(tuned!.entry!.level, 3);
});

Deno.test("choose() does not run a remembered config that is not legal", async () => {
  const timings = await filled();
  const [[id]] = timings.entries as [[string, unknown]];
  timings.edit(id, "TILE=128");
  strictEqual((await one({ timings })).row.config, "TILE=16");
  const { row } = await one({ timings, settings: { demandCached: true } });
  match(row.note, /its entry has the config TILE=128, which is not legal/);
});

Deno.test("choose() fails a miss where the timing cache was to have it", async () => {
  const settings = { demandCached: true, timer: "graph" } as const;
  const { row, events } = await one({ settings });
  strictEqual(row.status, "untuned");
  strictEqual(
    row.note,
    "The timing cache does not know its config (it has no entry): tune it first",
  );
  strictEqual(timed(events).size, 0);
  const timings = await filled({ timer: "graph" });
  strictEqual((await one({ timings, settings })).row.status, "ok");
});

Deno.test("choose() ignores the timing cache at level 0 and takes the first legal config", async () => {
  const { row, tuned } = await one({
    timings: await filled(),
    settings: { level: 0 },
  });
  deepStrictEqual([row.config, row.config_by], ["TILE=8", "first"]);
  strictEqual(tuned, undefined);
});

Deno.test("choose() checks and runs once at the remembered config", async () => {
  const timings = await filled();
  for (const settings of [{ checkOnly: true }, { once: true }]) {
    strictEqual((await one({ timings, settings })).row.config, "TILE=16");
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
  deepStrictEqual([...seen].sort(), ["01", "8 + 8"]);
  seen.clear();
  const timings = new TimingCache([tuned!.entry!]);
  const { row } = await one({ kernel, cases, timings });
  deepStrictEqual([row.status, row.config_by], ["ok", "cache"], row.note);
  deepStrictEqual([...seen], ["8 + 8"]);
});

Deno.test("choose() says which config it is at, before one that may be its last", async () => {
  const { events } = await one();
  const notes = events.flatMap((e) => e.event === "progress" ? [e.note] : []);
  deepStrictEqual(
    notes.filter((note) => note.startsWith("search")).slice(0, 3),
    TILES.map((tile, i) => `search ${i}/3, at TILE=${tile}`),
  );
  ok(notes.includes("check, at TILE=16"), notes.join("\n"));
});

Deno.test("run() says of a remembered config that fails how to forget it", async () => {
  const timings = await filled();
  const kernel: FakeKernel = { ns: () => 1000, run() {} };
  const { row } = await one({ timings, kernel });
  deepStrictEqual([row.status, row.config, row.config_by], [
    "wrong",
    "TILE=16",
    "cache",
  ]);
  match(
    row.note,
    /; its config is from the timing cache$/,
  );
});
