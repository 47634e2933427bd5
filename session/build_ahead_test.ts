import { ConfigBook } from "../bench/tune/config_book.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { fake } from "../backends/fake/fake.ts";
import { suiteOf } from "../backends/testdata/spine.ts";
import { BinaryCache } from "../bench/device/binary_cache.ts";
import { UserError } from "../bench/model/errors.ts";
import { DEFAULTS } from "../bench/model/settings.ts";
import type { Backend, DeviceInfo } from "../bench/device/device.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { BenchContext } from "../bench/measure/context.ts";
import { timingEntry } from "../bench/testdata/timings.ts";
import { TimingCache } from "../bench/tune/timing_cache.ts";
import { configsOf, decide, timingKeyOf } from "../bench/tune/decide.ts";
import { type HintRow, Hints } from "../bench/tune/hints.ts";
import { keyOf } from "../bench/row/row.ts";
import type { Case } from "../bench/model/suite.ts";
import { cpu } from "../backends/cpu/cpu.ts";
import faults from "../cli/testdata/fault_suite.ts";
import { BuildAhead, distinctBuilds } from "./build_ahead.ts";

const info: DeviceInfo = cpu.find().devices[0]!;

/** What a kernel of a user may throw at each thing that it is asked. */
const refuse = (): never => {
  throw new TypeError("undefined is not a function");
};

Deno.test("distinctBuilds() leaves out cases whose kernels throw or are Python's, and only those", () => {
  const good = [...faults.cases("quick")].find((c) =>
    c.backend === "cpu" && c.kernel === "right"
  )!;
  const broken: readonly Case[] = [
    { ...good, unsupported: refuse },
    { ...good, candidates: refuse },
    { ...good, builds: refuse },
    // Python compiles it.
    { ...good, runner: "python" },
  ];
  const sources = (cases: readonly Case[]) =>
    distinctBuilds(cases, info).map(({ source }) => source.href);
  assertEquals(sources(broken), []);
  assertEquals(sources([...broken, good]), sources([good]));
  assertEquals(sources([good]).length, 1);
});

/** Compilations at once. */
const LANES = navigator.hardwareConcurrency;
/** More than are compiled at once. */
const TILES = Array.from({ length: LANES + 3 }, (_, i) => i + 1);

/** One that waits for its gate, and what the compiler was asked. */
interface Count {
  started: number;
  most: number;
  /** Resolved as soon as every lane compiles. */
  readonly full: Promise<void>;
  /** Lets the compilation of `tile` end, or all of them. */
  open(tile?: number): void;
}

/** A context on the fake device whose compiler waits to be let go, and counts. */
async function counting(
  test: (context: BenchContext, count: Count) => Promise<void>,
  { timings, hints }: { timings?: TimingCache; hints?: Hints } = {},
): Promise<void> {
  const dir = await Deno.makeTempDir();
  const plain = fake({ kernels: { tiled: { ns: 5000 } } });
  const full = Promise.withResolvers<void>();
  const gates = new Map(
    TILES.map((tile) => [tile, Promise.withResolvers<void>()] as const),
  );
  const count: Count = {
    started: 0,
    most: 0,
    full: full.promise,
    open: (tile) =>
      gates.forEach(({ resolve }, own) => {
        if (tile === undefined || tile === own) resolve();
      }),
  };
  let now = 0;
  const backend: Backend = {
    ...plain,
    compiler: (arch) => ({
      signature: "slow 1",
      async compile(build, binary) {
        const gate = gates.get(Number(build.defines.TILE));
        if (gate) {
          count.started++;
          count.most = Math.max(count.most, ++now);
          if (now === LANES) full.resolve();
          await gate.promise;
          now--;
        }
        return await plain.compiler(arch).compile(build, binary);
      },
    }),
  };
  try {
    using device = backend.open(backend.find().devices[0]!);
    using context = await BenchContext.open({
      backend,
      device,
      cache: new BinaryCache(dir),
      settings: { ...DEFAULTS, cacheDir: dir },
      run: "",
      harness: "",
      configs: new ConfigBook({}, timings, hints),
      date: () => "",
      emit: () => {},
    });
    await test(context, count);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const tunable = () => [...suiteOf(["tiled"], { TILE: TILES }).cases("all")];

Deno.test("BuildAhead compiles as many at once as there are cores, each once", () =>
  counting(async (context, count) => {
    const events: Event[] = [];
    await using ahead = new BuildAhead(tunable(), {
      context,
      emit: (event) => events.push(event),
    });
    await count.full;
    assertEquals(count.started, LANES);
    // Whoever needs one in the meantime waits for that one alone.
    const [first] = tunable();
    count.open(1);
    await context.build(first!.builds({ TILE: 1 }));
    assert(count.started < TILES.length);
    count.open();
    await ahead.done();
    const total = TILES.length;
    assertEquals([count.started, count.most], [total, LANES]);
    assertEquals(events.at(-1), { event: "build", done: total, total });
  }));

Deno.test("BuildAhead takes its share of the cores", () =>
  counting(async (context, count) => {
    const workers = 2 * LANES;
    await using ahead = new BuildAhead(tunable(), {
      context,
      workers,
      emit: () => {},
    });
    count.open();
    await ahead.done();
    assertEquals([count.started, count.most], [TILES.length, 1]);
  }));

Deno.test("BuildAhead starts no more once it is left", () =>
  counting(async (context, count) => {
    count.open();
    {
      await using _ahead = new BuildAhead(tunable(), {
        context,
        emit: () => {},
      });
    }
    assertEquals(count.started, LANES);
  }));

Deno.test("BuildAhead passes a refusal on once, to whoever waits", () =>
  counting(async (context, count) => {
    count.open();
    const { cache } = context.options;
    const refusal = new UserError("Cannot keep kernels");
    cache.get = () => Promise.reject(refusal);
    const wait = async () => {
      await using ahead = new BuildAhead(tunable(), {
        context,
        emit: () => {},
      });
      await ahead.done();
    };
    // Not a SuppressedError, which leaving it while one is passed on would make of two.
    assertEquals(await assertRejects(wait), refusal);
  }));

Deno.test("BuildAhead compiles only what is needed of a config that is known", async () => {
  const [one] = tunable();
  let timings: TimingCache | undefined;
  await counting((context) => {
    const legal = [...one!.candidates(context.device.info)];
    const key = timingKeyOf(one!, { context, legal });
    timings = new TimingCache([{
      ...timingEntry("tiled"),
      key,
      config: "TILE=2",
    }]);
    return Promise.resolve();
  });
  await counting(async (context, count) => {
    count.open();
    await using ahead = new BuildAhead(tunable(), { context, emit: () => {} });
    await ahead.done();
    assertEquals(count.started, 1);
  }, { ...(timings && { timings }) });
});

const WAY = { timer: "graph", cache: "cold" };

Deno.test("BuildAhead compiles what is recorded of a kernel, and little else", async () => {
  const [one] = tunable();
  const { m, n, k, ...key } = keyOf(one!);
  const row = (config: string, size: number): HintRow => ({
    ...key,
    config,
    m,
    n,
    k: `${Number(k) * size}`,
    arch: "",
    status: "ok",
    median_us: "1",
    source_hash: "1",
    ...WAY,
  });
  const hints = new Hints([row("TILE=4", 1), row("TILE=3", 2)]);
  await counting(async (context, count) => {
    count.open();
    const among = configsOf(decide(one!, context));
    assertEquals(among, [{ TILE: 4 }, { TILE: 3 }]);
    await using ahead = new BuildAhead(tunable(), { context, emit: () => {} });
    await ahead.done();
    assertEquals(count.started, 2);
  }, { hints });
});

Deno.test("decide() takes no recorded config for what a library offers", async () => {
  const [one] = tunable();
  const row: HintRow = {
    ...keyOf(one!),
    config: "TILE=4",
    arch: "",
    status: "ok",
    median_us: "1",
    source_hash: "1",
    ...WAY,
  };
  await counting((context) => {
    const offers = () => TILES.map((TILE) => ({ config: { TILE } }));
    const among = configsOf(decide({ ...one!, offers }, context));
    assertEquals(among.map(({ TILE }) => TILE), TILES);
    return Promise.resolve();
  }, { hints: new Hints([row]) });
});
