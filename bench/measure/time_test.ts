import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { fake } from "../../backends/fake/fake.ts";
import {
  dephased,
  phasedMedian,
  quantile,
  spread,
  summarize,
} from "./stats.ts";
import { stopClock } from "../testdata/stop_clock.ts";
import { generator } from "./bootstrap.ts";
import { samplesFor, Stopwatch, warm } from "./time.ts";
import { normal } from "../testdata/samples.ts";
import { Ledger } from "./time_ledger.ts";
import { rejects, strictEqual, throws } from "node:assert/strict";

async function setUp(ns: (launch: number) => number) {
  const backend = fake({ kernels: { k: { ns } } });
  const device = backend.open(backend.find().devices[0]!);
  const binary = await Deno.makeTempFile();
  await Deno.writeTextFile(binary, "{}");
  const step = device.load(binary).program("k").step([], {
    grid: [1, 1, 1],
    block: [1, 1, 1],
  });
  const buffer = device.alloc(64);
  await Deno.remove(binary);
  return { device, run: () => step.enqueue(), flush: () => buffer.fill(0) };
}

Deno.test("Stopwatch.sample() counts warm-up and samples as do_bench does", async () => {
  using _clock = stopClock();
  let launches = 0;
  const t = await setUp((n) => (launches = n + 1, 5000));
  using stopwatch = new Stopwatch(t.device);
  const samples = stopwatch.sample({ ...t, warmup: 0.15, rep: 0.3 });
  // 10 µs of flush and 5 of launch: 20 samples after 1 + 5 + 10 untimed launches.
  assertStrictEquals(samples.length, 20);
  assertStrictEquals(launches, 1 + 5 + 10 + 20);
  assertEquals(new Set(samples), new Set([5000]));
});

Deno.test("Stopwatch.sample() takes as many samples as a precision needs, and no more than rep has", async () => {
  const random = generator(1);
  const t = await setUp(() => 5000 * (1 + normal(random) / 100));
  using stopwatch = new Stopwatch(t.device);
  const series = { ...t, warmup: 0, rep: 30 };
  // 15 µs each: about 2000 samples.
  const counts = [5, 0.1, 0.01].map((percent) =>
    stopwatch.sample({ ...series, precision: percent / 100 }).length
  );
  assertStrictEquals(counts[0], 64);
  assert(counts[2]! > 1900 && counts[2]! < 2100, `${counts[2]}`);
  assert(counts[1]! > 300 && counts[1]! < 1500, `${counts[1]}`);
});

Deno.test("samplesFor() makes the median as precise as it says in 95 of 100 series", () => {
  const random = generator(3);
  const series = (n: number) =>
    Array.from({ length: n }, () => 100 + normal(random));
  const within = Array.from({ length: 200 }, () => {
    const n = samplesFor(0.002, series(200));
    return Math.abs(summarize(series(n)).median - 100) < 0.2;
  });
  const share = within.filter((is) => is).length / within.length;
  assert(share > 0.92 && share < 1, `${share}`);
});

Deno.test("Stopwatch.sample() keeps the order and takes at least ten", async () => {
  using _clock = stopClock();
  const t = await setUp((n) => 1000 + n);
  using stopwatch = new Stopwatch(t.device);
  const samples = stopwatch.sample({ ...t, warmup: 0, rep: 0 });
  assertEquals(
    samples,
    Array.from({ length: 10 }, (_, i) => 1000 + 1 + 5 + 1 + i),
  );
});

Deno.test("Stopwatch.sample() waits for each slow call and says that it lives", async () => {
  using _clock = stopClock();
  let [launches, lives] = [0, 0];
  const t = await setUp((n) => (launches = n + 1, 4.5e9));
  using stopwatch = new Stopwatch(t.device, () => {}, () => lives++);
  assertStrictEquals(
    stopwatch.sample({ ...t, warmup: 10, rep: 50 }).length,
    10,
  );
  // After the estimate, the warm-up and each sample: never more than one call is silent.
  assertStrictEquals(lives, 1 + 1 + 10);
  assertStrictEquals(launches, 1 + 5 + 1 + 10);
});

Deno.test("warm() goes on until two windows agree", async () => {
  let launches = 0;
  // The clock doubles until launch 40.
  const t = await setUp((n) => (launches = n, n < 40 ? 2e6 - 4e4 * n : 4e5));
  using stopwatch = new Stopwatch(t.device);
  warm(stopwatch, t.run, { windowMs: 4 });
  assertStrictEquals(launches >= 42, true, `${launches}`);
  assertStrictEquals(launches < 60, true, `${launches}`);
});

Deno.test("warm() gives up on clocks that never settle", async () => {
  const t = await setUp((n) => n % 2 ? 1e6 : 3e6);
  using stopwatch = new Stopwatch(t.device);
  const spent = warm(stopwatch, t.run, { windowMs: 1, mostMs: 20 });
  assertStrictEquals(spent >= 20 && spent < 24, true, `${spent}`);
});

Deno.test("summarize() gives order statistics and drops nothing", () => {
  assertEquals(summarize([5, 1, 2, 100]), {
    median: 3.5,
    q1: 1.75,
    q3: 28.75,
    min: 1,
    mean: 27,
  });
});

Deno.test("quantile() of one value is that value", () => {
  assertStrictEquals(quantile([7], 0.75), 7);
});

Deno.test("spread() needs two runs", () => {
  assertStrictEquals(spread([3]), undefined);
  assertStrictEquals(spread([1, 3]), Math.SQRT2);
});

Deno.test("phasedMedian() gives modes by index their share, and a mixture no gap", () => {
  // Two modes in turn: 8 of 16 phases each, some noise, an outlier.
  const samples = Array.from(
    { length: 160 },
    (_, i) => (i % 4 < 2 ? 7 : 9) + (i % 5) / 100,
  );
  samples[3] = 1000;
  assertStrictEquals(Math.abs(phasedMedian(samples) - 8.02) < 1e-9, true);
  assertStrictEquals(phasedMedian([3, 1, 2]), 2);
  // Modes of 12 and 4 phases: the median of all, or of the phases' medians, would be 7.
  const uneven = Array.from({ length: 64 }, (_, i) => i % 4 < 3 ? 7 : 9);
  assertStrictEquals(phasedMedian(uneven), 7.5);
});

Deno.test("dephased() leaves the noise and takes the modes out", () => {
  const samples = Array.from(
    { length: 64 },
    (_, i) => (i % 4 < 2 ? 7 : 9) + (i >= 32 && i < 48 ? 0.5 : 0),
  );
  assertEquals(
    dephased(samples),
    // Four samples of a phase: 0.5 off, and wider by 4/3.
    samples.map((_, i) => i >= 32 && i < 48 ? 8 + 2 / 3 : 8),
  );
  assertEquals(dephased([3, 1]), [3, 1]);
});

function ledgerWithClock() {
  let now = 100;
  const ledger = new Ledger(() => now);
  return { ledger, pass: (ms: number) => void (now += ms) };
}

Deno.test("Ledger.count() counts nested time once, in the inner phase", () => {
  const { ledger, pass } = ledgerWithClock();
  ledger.count("search", () => {
    pass(5);
    ledger.count("build", () => pass(20));
    pass(1);
  });
  pass(4);
  ledger.ask(12);
  const { search, build, total, asked } = ledger.spent;
  strictEqual(search, 6);
  strictEqual(build, 20);
  strictEqual(total, 30);
  strictEqual(asked, 12);
});

Deno.test("Ledger.count() closes a phase that fails", async () => {
  const { ledger, pass } = ledgerWithClock();
  throws(() =>
    ledger.count("check", () => {
      pass(3);
      throw new Error("x");
    })
  );
  pass(2);
  await rejects(ledger.count("time", async () => {
    pass(1);
    await Promise.reject(new Error("y"));
  }));
  pass(2);
  const { check, time, total } = ledger.spent;
  strictEqual(check, 3);
  strictEqual(time, 1);
  strictEqual(total, 8);
});
