import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "node:path";
import { UserError } from "../../bench/model/errors.ts";
import { testdata } from "../../cli/testdata/program.ts";
import {
  bench,
  type BenchOptions,
  check,
  diff,
  type FlatRow,
  readRows,
  type RunEvent,
  table,
} from "mnkbench";

/** Options that put all files of a short sweep into `folder`. */
function small(folder: string): BenchOptions {
  return {
    suites: [testdata("small_suite.ts")],
    backend: "cpu",
    warmup: 0.1,
    rep: 0.5,
    kernelCache: join(folder, "kernels"),
    out: join(folder, "out"),
    unfinished: join(folder, "runs"),
  };
}

async function inFolder(test: (folder: string) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const named = (rows: readonly FlatRow[]) =>
  rows.map(({ kernel, m, k, status }) => `${kernel} ${m} ${k} ${status}`);

Deno.test("bench() gives the rows that it writes, and tells of each; table() and diff() take them", () =>
  inFolder(async (folder) => {
    const events: RunEvent[] = [];
    const { rows, paths, stopped } = await bench({
      ...small(folder),
      axes: { k: [8] },
      onEvent: (event) => events.push(event),
    });
    assertEquals(stopped, false);
    assertEquals(named(rows), [
      ...["naive 2 8 ok", "zeros 2 8 wrong", "picky 2 8 unsupported"],
      ...["naive 4 8 ok", "zeros 4 8 wrong", "picky 4 8 unsupported"],
    ]);
    for (const row of rows) {
      if (row.status === "ok") assert(row.median_us > 0 && row.samples! > 0);
    }
    assertEquals(await readRows(paths), [...rows]);
    const told = events.flatMap((one) => one.event === "row" ? [one.row] : []);
    assertEquals(told, [...rows]);
    const last = events.filter(({ event }) => event === "progress").at(-1);
    assertEquals({ ...last, left: 0 }, {
      event: "progress",
      done: 6,
      total: 6,
      failed: 2,
      left: 0,
    });
    const text = await table(rows);
    assertMatch(text, /^small on .*\nmedian µs +naive .*\n2×2×8 /);
    const md = await table(rows, { metrics: ["gbps"], format: "md" });
    assertMatch(md, /^\| 2×2×8 \| .*\d.* \| wrong \|$/m);
    const { counts, geomeans } = await diff(paths, paths);
    assertEquals([counts.same, geomeans[0]!.n], [6, 2]);
  }));

Deno.test("bench() keeps what was measured where it is stopped, and goes on from there", () =>
  inFolder(async (folder) => {
    const stop = new AbortController();
    const one = { ...small(folder), kernels: ["naive"] };
    const first = await bench({
      ...one,
      signal: stop.signal,
      onEvent: ({ event }) => event === "row" && stop.abort(),
    });
    assert(first.stopped && first.rows.length > 0);
    const text = await Deno.readTextFile(first.paths[0]!);
    assertEquals(text.trimEnd().split("\n").length, 1 + first.rows.length);
    const notes: string[] = [];
    const { rows } = await bench({
      ...one,
      onEvent: (event) => event.event === "note" && notes.push(event.text),
    });
    assertEquals(rows.length, 4);
    assertEquals(rows.slice(0, first.rows.length), first.rows);
    assertMatch(notes.join("\n"), /^Continuing the run of /m);
  }));

Deno.test("check() checks edge-case shapes too, or the given sizes alone", () =>
  inFolder(async (folder) => {
    const suites = [testdata("small_suite.ts")];
    const given = { suites, backend: "cpu", kernelCache: folder };
    const { rows, stopped } = await check({
      ...given,
      kernels: ["naive"],
      axes: { m: [3], k: [5] },
    });
    assertEquals([named(rows), stopped], [["naive 3 5 checked"], false]);
    const all = await check({ ...given, kernels: ["naive"] });
    assert(all.rows.length > 4 + 4);
    assert(all.rows.every(({ status }) => status === "checked"));
  }));

for (
  const [what, options, expected] of [
    [
      "an unknown option",
      { suite: "x" },
      /^Cannot bench: field suite is unknown; fix/,
    ],
    ["no list", { suites: "x" }, /field suites is "x": it must be a list/],
    [
      "too few runs",
      { runs: 0 },
      /field runs: it must be a number from 1 to 10000/,
    ],
    ["a broken number", { seed: 1.5 }, /field seed: it must be a whole number/],
    [
      "no timer",
      { timer: "clock" },
      /field timer: it must be do_bench, graph, /,
    ],
    ["no signal", { signal: 1 }, /field signal is 1: it must be AbortSignal/],
    [
      "a shard without a folder",
      { shard: { index: 1, count: 2 }, out: undefined },
      /^Cannot tell the rows of a shard from others in .runs.latest: choose a folder for them with `out`, such as new/,
    ],
    [
      "a shard too many",
      { shard: { index: 3, count: 2 } },
      /field shard: its index must be at most/,
    ],
    ["no device", { devices: [] }, /field devices: it must name one/],
    ["a device that is not here", { devices: [0, 7] }, /^No device 7 of cpu: /],
    [
      "peers where they do not run",
      { peers: "torch" },
      /^Cannot measure peers on cpu: they run on cuda only; leave out `peers` or `backend`$/,
    ],
    [
      "a flush of a warm cache",
      { cache: "warm", flush: "read" },
      /^Cannot flush a cache that stays warm: leave out `flush` or `cache`$/,
    ],
    [
      "no peers",
      { peers: "mine" },
      /field peers: it must be torch, or a Python file/,
    ],
    [
      "no axis",
      { axes: { q: [1] } },
      /^Suite small has no axis q: its axes are /,
    ],
    [
      "no size",
      { axes: { m: [-1] } },
      /m is -1: give a whole number of at least 1/,
    ],
    ["no kernel", { kernels: ["naif"] }, /^No kernel is named naif: /],
    ["no backend", { backend: "gpu" }, /^No backend is named gpu: /],
  ] as const
) {
  Deno.test(`bench() refuses ${what} in one line`, () =>
    inFolder(async (folder) => {
      const wrong = { ...small(folder), ...options } as BenchOptions;
      const error = await assertRejects(() => bench(wrong), UserError);
      assertMatch(error.message, expected);
      assertEquals(error.message.split("\n").length, 1);
    }));
}

for (
  const [what, rows, options, expected] of [
    [
      "metric",
      [],
      { metrics: ["speed"] },
      /field metrics.0 is "speed": it must/,
    ],
    [
      "option",
      [],
      { metric: ["us"] },
      /^Cannot table: field metric is unknown/,
    ],
    [
      "width",
      [],
      { width: "wide" },
      /field width is "wide": it must be a number/,
    ],
    ["option: its rows", [], { rows: [] }, /field rows is unknown; fix/],
    ["object", [], null, /^Cannot table: it is null: it must be an object; f/],
    ["object: a list", [], [], /^Cannot table: it is a list: it must be an o/],
    [
      "kernel",
      [],
      { baseline: "fast" },
      /^Cannot table: no kernel of the rows is named fast: there are none$/,
    ],
    ["list of rows", {}, {}, /field rows is an object: it must be a list/],
    ["row", [{ kernel: "a" }], {}, /field rows.0.status is missing/],
    [
      "status",
      [{ status: "junk" }],
      {},
      /field rows.0.status is "junk": it must/,
    ],
  ] as const
) {
  Deno.test(`table() refuses what is no ${what} in one line`, async () => {
    const wrong = table as (...given: readonly unknown[]) => Promise<string>;
    const error = await assertRejects(() => wrong(rows, options), UserError);
    assertMatch(error.message, expected);
    assertEquals(error.message.split("\n").length, 1);
  });
}

for (
  const [what, base, options, expected] of [
    ["option", "a", { treshold: 5 }, /^Cannot diff: field treshold is unknown/],
    ["option: a side", "a", { base: "b" }, /field base is unknown; fix/],
    ["object", "a", 5, /^Cannot diff: it is 5: it must be an object; fix/],
    ["number", "a", { threshold: "5" }, /field threshold is "5": it must be a/],
    [
      "verdict",
      "a",
      { failOn: ["worse"] },
      /field failOn.0 is "worse": it must/,
    ],
    ["path", [{ kernel: "a" }], {}, /field base is a list: it must be /],
  ] as const
) {
  Deno.test(`diff() refuses what is no ${what} in one line`, async () => {
    const wrong = diff as (...given: readonly unknown[]) => Promise<unknown>;
    const error = await assertRejects(
      () => wrong(base, "b", options),
      UserError,
    );
    assertMatch(error.message, expected);
    assertEquals(error.message.split("\n").length, 1);
  });
}
