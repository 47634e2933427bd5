import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { fake } from "../backends/fake.ts";
import { suiteOf } from "../backends/testdata/spine.ts";
import { BinaryCache } from "../bench/cache.ts";
import { DEFAULTS } from "../bench/config.ts";
import type { Backend } from "../bench/device.ts";
import type { Event } from "../bench/protocol.ts";
import { Rig } from "../bench/rig.ts";
import { timingEntry } from "../bench/testdata/timings.ts";
import { TimingCache } from "../bench/timing_cache.ts";
import { timingKeyOf } from "../bench/timing_key.ts";
import type { DeviceInfo } from "../bench/device.ts";
import type { Case } from "../bench/suite.ts";
import { cpu } from "../backends/cpu.ts";
import faults from "./testdata/fault_suite.ts";
import { BuildAhead, distinctBuilds } from "./build_ahead.ts";

const info: DeviceInfo = cpu.find().devices[0]!;

/** What a kernel of a user may throw at each thing that it is asked. */
const refuse = (): never => {
  throw new TypeError("undefined is not a function");
};

Deno.test("distinctBuilds() leaves out cases whose kernels throw, and only those", () => {
  const good = [...faults.cases("quick")].find((c) =>
    c.backend === "cpu" && c.kernel === "right"
  )!;
  const broken: readonly Case[] = [
    { ...good, unsupported: refuse },
    { ...good, candidates: refuse },
    { ...good, builds: refuse },
  ];
  const sources = (cases: readonly Case[]) =>
    distinctBuilds(cases, info).map(({ source }) => source.href);
  deepStrictEqual(sources(broken), []);
  deepStrictEqual(sources([...broken, good]), sources([good]));
  deepStrictEqual(sources([good]).length, 1);
});

/** A rig on the fake device whose compiler takes a while and counts. */
async function counting(
  test: (rig: Rig, count: { started: number; most: number }) => Promise<void>,
  timings?: TimingCache,
): Promise<void> {
  const dir = await Deno.makeTempDir();
  const plain = fake({ kernels: { tiled: { ns: 5000 } } });
  const count = { started: 0, now: 0, most: 0 };
  const backend: Backend = {
    ...plain,
    compiler: (arch) => ({
      signature: "slow 1",
      async compile(build, binary) {
        count.started++;
        count.most = Math.max(count.most, ++count.now);
        await new Promise((resolve) => setTimeout(resolve, 5));
        count.now--;
        return await plain.compiler(arch).compile(build, binary);
      },
    }),
  };
  try {
    using device = backend.open(backend.find().devices[0]!);
    using rig = await Rig.open({
      backend,
      device,
      cache: new BinaryCache(dir),
      settings: { ...DEFAULTS, cacheDir: dir },
      run: "",
      harness: "",
      timings,
      date: () => "",
      emit: () => {},
    });
    // Its own instruments do not count.
    Object.assign(count, { started: 0, most: 0 });
    await test(rig, count);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const TILES = Array.from({ length: 20 }, (_, i) => i + 1);
const tunable = () => [...suiteOf(["tiled"], { TILE: TILES }).cases("all")];

Deno.test("BuildAhead compiles as many at once as there are cores, each once", () =>
  counting(async (rig, count) => {
    const events: Event[] = [];
    await using ahead = new BuildAhead(tunable(), {
      rig,
      emit: (event) => events.push(event),
    });
    // Whoever needs one in the meantime waits for that one alone.
    const [first] = tunable();
    await rig.build(first!.builds({ TILE: 1 }));
    ok(count.started < TILES.length);
    await ahead.done();
    strictEqual(count.started, TILES.length);
    strictEqual(count.most, Math.min(navigator.hardwareConcurrency, 20));
    deepStrictEqual(events.at(-1), { event: "build", done: 20, total: 20 });
  }));

Deno.test("BuildAhead starts no more once it is left", () =>
  counting(async (rig, count) => {
    {
      await using _ahead = new BuildAhead(tunable(), { rig, emit: () => {} });
    }
    strictEqual(count.started, Math.min(navigator.hardwareConcurrency, 20));
  }));

Deno.test("BuildAhead compiles only what is needed of a config that is known", async () => {
  const [one] = tunable();
  let timings: TimingCache | undefined;
  await counting((rig) => {
    const legal = [...one!.candidates(rig.device.info)];
    const key = timingKeyOf(one!, { rig, legal });
    timings = new TimingCache([{
      ...timingEntry("tiled"),
      key,
      config: "TILE=7",
    }]);
    return Promise.resolve();
  });
  await counting(async (rig, count) => {
    await using ahead = new BuildAhead(tunable(), { rig, emit: () => {} });
    await ahead.done();
    strictEqual(count.started, 1);
  }, timings);
});
