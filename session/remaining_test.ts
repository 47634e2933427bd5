import { assert, assertEquals } from "@std/assert";
import { keyFor, timedRow } from "../bench/testdata/rows.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { type CaseWeight, Remaining, weighed, weightOf } from "./remaining.ts";
import { suiteOf } from "../backends/testdata/spine.ts";
import { fake } from "../backends/fake/fake.ts";

const ready: Event = {
  event: "ready",
  device: "Fake 1",
  arch: "fake",
  driver: "",
  libraries: [],
  cases: 0,
};

/** A clock that is set, and cases of these weights, or of these kernels. */
function estimator(
  weights: readonly (number | Omit<Recorded, "ms" | "call_us">)[],
) {
  const clock = { ms: 0 };
  const cases: CaseWeight[] = weights.map((one, i) =>
    typeof one === "number"
      ? { key: keyFor(`k${i}`), weight: one, flops: 0 }
      : { ...one, key: { ...keyFor(one.kernel), k: `${i}` } }
  );
  const remaining = new Remaining(cases, () => clock.ms);
  /** Runs the next case in `ms`. */
  let next = 0;
  const run = (ms: number, median_us = 0) => {
    const { key } = cases[next++]!;
    remaining.take({ event: "case", key });
    clock.ms += ms;
    const row = timedRow(key.kernel, { run: "1", median_us });
    remaining.take({ event: "row", row: { ...row, key } });
  };
  const build = (done: number, total: number) =>
    remaining.take({ event: "build", done, total });
  return { clock, cases, remaining, run, build };
}

/** A run's rows: what they weigh, and the milliseconds between them. */
interface Recorded {
  readonly weight: number;
  readonly ms: number;
  readonly flops: number;
  readonly kernel: string;
  readonly call_us: number;
}

/** The runs recorded in `file`. */
function recorded(
  file: string,
  backend: string,
): ReadonlyMap<string, readonly Recorded[]> {
  const text = Deno.readTextFileSync(
    new URL(`testdata/${file}`, import.meta.url),
  );
  const rows = text.trimEnd().split("\n").slice(1).map((line) => {
    const [run = "", bytes, ms, flops = 0, kernel = run, call_us = 0] = line
      .split(",");
    const work = { bytes: Number(bytes), flops: Number(flops) };
    return {
      run,
      kernel,
      ms: Number(ms),
      flops: Number(flops),
      weight: weightOf(work, backend),
      call_us: Number(call_us),
    };
  });
  return Map.groupBy(rows, ({ run }) => run);
}

/** Yields what was done and what was estimated of what was left, from the first tenth on. */
function* replayed(
  rows: readonly Recorded[],
): Generator<{ readonly share: number; readonly ratio: number }> {
  const total = rows.reduce((sum, { ms }) => sum + ms, 0);
  const { clock, remaining, run } = estimator(rows);
  remaining.take(ready);
  for (const { ms, call_us } of rows) {
    run(ms, call_us);
    const share = clock.ms / total;
    // The last cases of a run may be of any length.
    if (share < 0.1 || share > 0.6) continue;
    yield { share, ratio: remaining.seconds! * 1e3 / (total - clock.ms) };
  }
}

Deno.test("Remaining is within 25 % after the first tenth of runs on an H200", () => {
  const all = recorded("durations.csv", "cuda");
  assertEquals(all.size, 4);
  for (const [name, rows] of all) {
    for (const { share, ratio } of replayed(rows)) {
      const most = share < 0.12 ? 0.25 : 0.35;
      assert(
        Math.abs(ratio - 1) < most,
        `${name} at ${share.toFixed(2)}: ${ratio.toFixed(2)} of what was left`,
      );
    }
  }
});

Deno.test("Remaining is within 50 % after the first tenth of runs on a CPU", () => {
  const all = recorded("cpu_durations.csv", "cpu");
  assertEquals(all.size, 2);
  for (const [name, rows] of all) {
    for (const { share, ratio } of replayed(rows)) {
      assert(
        ratio > 0.6 && ratio < 1.5,
        `${name} at ${share.toFixed(2)}: ${ratio.toFixed(2)} of what was left`,
      );
    }
  }
});

Deno.test("Remaining does not take compilations for the time of cases", () => {
  const { clock, remaining, run, build } = estimator(Array(100).fill(1));
  remaining.take(ready);
  build(0, 50);
  clock.ms += 20_000;
  build(50, 50);
  // The first row after that may have waited for the last of them.
  for (let i = 0; i < 5; i++) run(100);
  assert(Math.abs(remaining.seconds! - 9.5) < 1e-6, `${remaining.seconds}`);
});

Deno.test("Remaining waits for what is compiled beside searches, and forgets it later", () => {
  const { clock, remaining, run, build } = estimator(Array(100).fill(1));
  remaining.take(ready);
  build(0, 100);
  clock.ms += 10_000;
  build(10, 100);
  // A case that waited for its binaries.
  run(500);
  build(10, 100);
  assert(Math.abs(remaining.seconds! - 94.5) < 1e-6, `${remaining.seconds}`);
  build(100, 100);
  run(500);
  for (let i = 0; i < 8; i++) run(100);
  assert(Math.abs(remaining.seconds! - 9) < 1e-6, `${remaining.seconds}`);
});

Deno.test("Remaining estimates after the first case of many, which no compiler delayed", () => {
  const { remaining, run } = estimator(Array(1000).fill(1));
  remaining.take(ready);
  run(100);
  assert(Math.abs(remaining.seconds! - 99.9) < 1e-6, `${remaining.seconds}`);
});

Deno.test("Remaining counts neither the start of a worker nor rows that are there", () => {
  const { clock, cases, remaining, run } = estimator([0, ...Array(9).fill(1)]);
  assertEquals(remaining.seconds, undefined);
  remaining.take(ready);
  run(0);
  // One that is unsupported says nothing.
  assertEquals(remaining.seconds, undefined);
  run(100);
  remaining.take(ready);
  clock.ms += 60_000;
  run(100);
  remaining.skip(cases.at(-1)!.key);
  assert(Math.abs(remaining.seconds! - 0.6) < 1e-6, `${remaining.seconds}`);
});

Deno.test("weighed() weighs operands, and nothing where a kernel cannot run", () => {
  const [one] = [...suiteOf(["a"]).cases("all")];
  const info = fake({ kernels: {} }).find().devices[0]!;
  const broken = () => {
    throw new TypeError("no");
  };
  const [usual, none, thrown] = weighed([
    one!,
    { ...one!, unsupported: () => "no" },
    { ...one!, unsupported: broken },
  ], info).map(({ weight }) => weight);
  assert(usual! > 1 && usual! < 1.001, `${usual}`);
  assertEquals([none, thrown], [0, 0]);
  const work = { bytes: 0, flops: 1e10 };
  assert(weightOf(work, "cpu") > 2 * weightOf(work, "cuda"));
});
