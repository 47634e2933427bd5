import { assert, assertEquals } from "@std/assert";
import { fake, type FakeKernel } from "../backends/fake/fake.ts";
import { memoryOf, right, suiteOf } from "../backends/testdata/spine.ts";
import type { Backend, Device } from "../bench/device/device.ts";
import { BinaryCache } from "../bench/device/binary_cache.ts";
import { BenchContext } from "../bench/measure/context.ts";
import { DEFAULTS } from "../bench/model/settings.ts";
import type { Case } from "../bench/model/suite.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { BuildAhead } from "./build_ahead.ts";
import { runCases } from "./run_cases.ts";

const LANES = navigator.hardwareConcurrency;
/** Problems of two kernels that need two builds each: more than are compiled at once. */
const PROBLEMS = LANES + 3;
const tilesOf = (problem: number) => [2 * problem + 1, 2 * problem + 2];

const cases = (): readonly Case[] =>
  Array.from({ length: PROBLEMS }, (_, i) => {
    const suite = suiteOf([`a${i}`, `b${i}`], { TILE: tilesOf(i) });
    return [...suite.cases("all")];
  }).flat();

/**
 * Runs the cases. What the first problem does not need compiles once its first case is searched, and
 * what the last one needs once something waits; with `tune` at once.
 */
async function told(
  change: { tune?: boolean } = {},
): Promise<{ events: readonly Event[]; whileTimed: number }> {
  const dir = await Deno.makeTempDir();
  const all = cases();
  const plain = fake({
    kernels: Object.fromEntries(all.map(({ kernel }) => [kernel, right])),
  });
  const gates = {
    tuned: Promise.withResolvers(),
    waits: Promise.withResolvers(),
  };
  if (change.tune) Object.values(gates).forEach(({ resolve }) => resolve(0));
  let compiling = 0;
  let whileTimed = 0;
  const backend: Backend = {
    ...plain,
    compiler: (arch) => ({
      signature: "slow 1",
      async compile(build, binary) {
        compiling++;
        const isOf = (problem: number) =>
          tilesOf(problem).includes(Number(build.defines.TILE));
        if (isOf(PROBLEMS - 1)) await gates.waits.promise;
        else if (build.defines.TILE && !isOf(0)) await gates.tuned.promise;
        const log = await plain.compiler(arch).compile(build, binary);
        compiling--;
        return log;
      },
    }),
  };
  try {
    using device = backend.open(backend.find().devices[0]!);
    const events: Event[] = [];
    const emit = (event: Event) => {
      events.push(event);
      const { event: what } = event;
      if (what === "tuned" || what === "waits") gates[what].resolve(0);
    };
    using context = await BenchContext.open({
      backend,
      device,
      run: "",
      harness: "",
      date: () => "",
      emit,
      cache: new BinaryCache(dir),
      settings: { ...DEFAULTS, ...change, cacheDir: dir, rep: 1, warmup: 1 },
    });
    const count = context.ledger.count.bind(context.ledger);
    context.ledger.count = (phase, work) => {
      if (phase === "time") whileTimed += compiling;
      return count(phase, work);
    };
    await using ahead = new BuildAhead(all, { context, emit });
    await runCases(all, context, { emit, ahead });
    return { events, whileTimed };
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Checks a right kernel and a wrong one at three shapes, which is told of what it leaves behind. */
async function checkedOn(
  { watch, wrong }: {
    readonly watch?: Device["watch"];
    readonly wrong: FakeKernel;
  },
): Promise<readonly string[]> {
  const dir = await Deno.makeTempDir();
  try {
    const backend = fake({ kernels: { right, wrong } });
    const opened = backend.open(backend.find().devices[0]!);
    using device = watch ? Object.assign(opened, { watch }) : opened;
    const told: string[] = [];
    const emit = (event: Event) => {
      if (event.event === "row") {
        const { key, status } = event.row;
        told.push(`${key.kernel} ${key.m} ${status}`);
      } else if (event.event === "restart" || event.event === "done") {
        told.push(event.event);
      }
    };
    using context = await BenchContext.open({
      ...{ backend, device, run: "", harness: "", date: () => "", emit },
      cache: new BinaryCache(dir),
      settings: { ...DEFAULTS, checkOnly: true, cacheDir: dir },
    });
    const suite = suiteOf(["right", "wrong"]);
    const all = [...suite.cases("all", { m: [1, 2, 3] })];
    await using ahead = new BuildAhead(all, { context, emit });
    await runCases(all, context, { emit, ahead });
    return told;
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** A device that shares the process, in which kernels leave nothing that can be seen. */
const shared = {
  watch: () => ({ warm() {}, left: () => [], spoilt: () => false }),
};
/** Writes nothing. */
const idle: FakeKernel = { ns: 5000 };
/** Is wrong, and writes right before C. */
const outside: FakeKernel = {
  ns: 5000,
  run: (args) => {
    const c = memoryOf(args[2]);
    new Uint8Array(c.buffer)[c.byteOffset - 1] = 7;
  },
};

Deno.test("runCases() checks all shapes of a wrong kernel in one process, others in another", async () => {
  const own = ["wrong 1 wrong", "wrong 2 wrong", "wrong 3 wrong"];
  assertEquals(await checkedOn({ ...shared, wrong: idle }), [
    ...["right 1 checked", ...own, "restart"],
  ]);
  // On a GPU others may follow.
  assertEquals(await checkedOn({ wrong: idle }), [
    ...["right 1 checked", ...own, "right 2 checked", "right 3 checked"],
    "done",
  ]);
});

Deno.test("runCases() has another process after a kernel that wrote outside of its operands", async () => {
  assertEquals(await checkedOn({ ...shared, wrong: outside }), [
    ...["right 1 checked", "wrong 1 wrong", "restart"],
  ]);
});

const names = (events: readonly Event[], wanted: Event["event"]) =>
  events.flatMap((e) => e.event === wanted && "key" in e ? [e.key.kernel] : []);

Deno.test("runCases() searches while others compile, and times while nothing does", async () => {
  const { events, whileTimed } = await told();
  const all = cases().map(({ kernel }) => kernel);
  assertEquals(whileTimed, 0);
  const rows = events.flatMap((e) => e.event === "row" ? [e.row] : []);
  assertEquals(rows.map(({ key }) => key.kernel), all);
  // Each was searched once, and its row says so.
  assertEquals(
    rows.map(({ status, provenance }) => [status, provenance.search_configs]),
    all.map(() => ["ok", 2]),
  );
  assertEquals(names(events, "tuned"), all);
  const announced = names(events, "case");
  assertEquals(announced.filter((name) => name === all[0]).length, 1);
  // The first is run at once; the next waits for its timing.
  assertEquals(names(events, "waits")[0], all[1]);
  const at = (wanted: Event["event"]) =>
    events.findIndex(({ event }) => event === wanted);
  const lastBuild = events.findLastIndex(({ event }) => event === "build");
  assert(at("row") < lastBuild, "the first row waits for all builds");
  assert(at("waits") < lastBuild, "no search while others compile");
});

Deno.test("runCases() of `tune` lets compilations go on throughout", async () => {
  const { events } = await told({ tune: true });
  assertEquals(names(events, "waits"), []);
  assertEquals(
    events.filter(({ event }) => event === "row").length,
    cases().length,
  );
});
