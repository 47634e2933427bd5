import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { CaseError } from "../../bench/model/errors.ts";
import { run } from "../../bench/measure/case_run.ts";
import { generator } from "../../bench/measure/bootstrap.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import { defineSuite } from "../../bench/model/suite.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { normal } from "../../bench/testdata/samples.ts";
import type { FakeKernel } from "./fake.ts";
import {
  memoryOf,
  multiply,
  right,
  rowsOf,
  suiteOf,
  withRig,
} from "../testdata/spine.ts";

Deno.test("run() times a right kernel by the device's clock, flushes outside", async () => {
  const { rows: [row], samples: [samples] } = await rowsOf(
    suiteOf(["right"]),
    { kernels: { right } },
  );
  assert(row?.status === "ok");
  assertEquals(row.figures, {
    median_us: 5,
    q1_us: 5,
    q3_us: 5,
    min_us: 5,
    mean_us: 5,
    // 0.5 ms over 15 µs of flush and launch.
    samples: 33,
    runs: 1,
    flops: 2 * 4 * 4 * 32,
    bytes: 2 * (4 * 32 * 2 + 16),
    tflops: 1024 / 5000 / 1e3,
    gbps: 544 / 5000,
    sol_us: 3,
    floor_us: 2,
  });
  assertStrictEquals(samples!.length, 33);
  assertStrictEquals(row.accuracy.mismatches, 0);
  assertStrictEquals(row.accuracy.deterministic, true);
  assertStrictEquals(row.config_by, "fixed");
  assertEquals(
    [row.provenance.timer, row.provenance.flush, row.provenance.flush_bytes],
    ["do_bench", "zero", 16384],
  );
});

Deno.test("run() says when it makes inputs and the reference, once for the kernels of a problem", async () => {
  const { events } = await rowsOf(suiteOf(["right", "also"]), {
    kernels: { right, also: right },
  });
  assertEquals(
    events.flatMap((e) => e.event === "progress" ? [e.note] : []),
    ["inputs", "", "reference", ""],
  );
});

Deno.test("run() notes a median that is less precise than was asked for", async () => {
  const random = generator(1);
  const noteAt = async (precision: number) => {
    const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
      kernels: {
        right: { ...right, ns: () => 5000 * (1 + normal(random) / 10) },
      },
      settings: { rep: 10, precision },
    });
    assert(row?.status === "ok");
    return row.note;
  };
  assertMatch(
    await noteAt(0.001),
    /known to \d+(\.\d+)? %, asked 0\.1 %: raise --rep$/,
  );
  assertStrictEquals(await noteAt(0.1), "");
});

Deno.test("run() searches the configs and runs at the fastest", async () => {
  const { rows: [row], events } = await rowsOf(
    suiteOf(["tiled"], { TILE: [8, 16, 32] }),
    {
      kernels: {
        tiled: {
          ns: (_, { TILE }) => TILE === 16 ? 7000 : 9000,
          run: multiply,
        },
      },
      settings: { search: 0.1 },
    },
  );
  assert(row?.status === "ok");
  assertStrictEquals(row.config_by, "search");
  assertStrictEquals(row.config, "TILE=16");
  assertStrictEquals(row.figures.median_us, 7);
  assertStrictEquals(row.provenance.search_configs, 3);
  assertEquals(
    events.filter((e) => e.event === "config").map((
      e,
    ) => [e.config, e.median_us]),
    [["TILE=8", 9], ["TILE=16", 7], ["TILE=32", 9]],
  );
});

Deno.test("run() times a graph as one replay a sample", async () => {
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right },
    settings: { timer: "graph", cache: "warm" },
  });
  assert(row?.status === "ok");
  assertStrictEquals(row.figures.median_us, 5);
  // Warm: no flush in the estimate either.
  assertStrictEquals(row.figures.samples, 100);
  assertStrictEquals(row.provenance.flush, "");
});

Deno.test("run() divides a batch by its distinct input sets", async () => {
  const inputs = new Set<ArrayBuffer>();
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: {
      right: {
        ns: 5000,
        run(args) {
          inputs.add(memoryOf(args[0]).buffer);
          multiply(args);
        },
      },
    },
    settings: { timer: "batch:3" },
  });
  assert(row?.status === "ok");
  assertStrictEquals(row.figures.median_us, 5);
  assertStrictEquals(inputs.size, 3);
});

Deno.test("run() times copies of one set in turns, each operand in a page of its own", async () => {
  const times = new Map<ArrayBuffer, number>();
  const kernel: FakeKernel = {
    ns: 5000,
    run(args) {
      const { buffer } = memoryOf(args[0]);
      times.set(buffer, 1 + (times.get(buffer) ?? 0));
      multiply(args);
    },
  };
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right: kernel },
    placement: { copies: 3, pageBytes: 1 << 16 },
  });
  assert(row?.status === "ok", row?.note);
  assertStrictEquals(row.figures.median_us, 5);
  // The fences of the first check have memory of their own.
  const often = [...times].filter(([, count]) => count > 9);
  assertEquals(often.map(([{ byteLength }]) => byteLength), [
    1 << 16,
    1 << 16,
    1 << 16,
  ]);
});

Deno.test("run() times a chain as one graph of distinct input sets", async () => {
  const inputs = new Set<ArrayBuffer>();
  const kernel: FakeKernel = {
    ns: 5000,
    run(args) {
      inputs.add(memoryOf(args[0]).buffer);
      multiply(args);
    },
  };
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right: kernel },
    settings: { timer: "chain:4" },
  });
  assert(row?.status === "ok");
  assertEquals([row.figures.median_us, row.provenance.timer], [5, "chain:4"]);
  assert(inputs.size >= 4, `${inputs.size}`);
});

Deno.test("run() says that a kernel which does not wait has no figure with pdl", async () => {
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right },
    settings: { timer: "chain:4:pdl" },
  });
  assertStrictEquals(row?.status, "unsupported");
  assertMatch(row!.note, /^right does not wait for the call before it/);
});

Deno.test("a kernel that waits is timed with pdl at the config of one that does not", async () => {
  const source = new URL("./fake.ts", import.meta.url);
  const named = (name: string, waits: boolean) =>
    defineKernel<MatmulPoint, { T: number }>(matmul, {
      name,
      backend: "fake",
      idea: "one launch",
      ...(waits ? { follows: "right" } : {}),
      unsupported: () => undefined,
      configs: () => [{ T: 1 }, { T: 2 }],
      builds: (_, defines) => [{ source, defines }],
      prepare: ({ point, config, operands, program }) => ({
        steps: [
          program({ source, defines: config }, "right").step(
            matmul.args(point, operands),
            { grid: [1, 1, 1], block: [32, 1, 1], ...(waits ? { waits } : {}) },
          ),
        ],
      }),
    });
  const { rows } = await rowsOf(
    defineSuite<MatmulPoint>({
      name: "pair",
      title: "Pair",
      op: matmul,
      baselines: ["right"],
      axes: { m: [4], k: [32] },
      tie: { n: "m" },
      fixed: { type: "bf16", epilogue: "none" },
      kernels: [named("right", false), named("early", true)],
    }),
    { kernels: { right }, settings: { timer: "chain:4:pdl" } },
  );
  assertEquals(rows.map(({ key, status }) => [key.kernel, status]), [
    ["right", "unsupported"],
    ["early", "ok"],
  ]);
});

Deno.test("run() tells of sets that do not fit before it makes any", async () => {
  const { rows } = await rowsOf(suiteOf(["right"]), {
    kernels: { right },
    settings: { timer: "chain:9999" },
    memoryBytes: 2 ** 26,
  });
  assertStrictEquals(rows[0]?.status, "oom");
  assertMatch(
    rows[0]!.note,
    /^Cannot make 9999 sets of operands: 9999 take \d+ bytes and \d+ are free; time fewer calls at once$/,
  );
});

Deno.test("run() asks for clocks where samples were taken, and only there", async () => {
  const zeros: FakeKernel = {
    ns: 5000,
    run: (args) => memoryOf(args[2]).fill(0),
  };
  const { rows } = await rowsOf(suiteOf(["right", "zeros"]), {
    kernels: { right, zeros },
    telemetry: () => ({ sm_mhz: 1980 }),
  });
  assertEquals(
    rows.map(({ status, provenance }) => [status, provenance.sm_mhz]),
    [["ok", 1980], ["wrong", undefined]],
  );
});

Deno.test("run() says what moves times, and which clauses a row meets", async () => {
  const { rows } = await rowsOf(suiteOf(["right", "zeros"]), {
    kernels: {
      right,
      zeros: { ns: 1, run: (args) => memoryOf(args[2]).fill(0) },
    },
    // 40 sets of 512 bytes: twice a cache of 4096 and more.
    settings: { timer: "batch:40", fill: "uniform" },
    machine: "mig+load=2.0",
  });
  assertEquals(
    rows.map(({ provenance: { clauses, machine } }) => [clauses, machine]),
    [["fill+rotation+gaps", "mig+load=2.0"], [undefined, "mig+load=2.0"]],
  );
});

Deno.test("run() measures once more where the device lowered its clocks", async () => {
  /** The row where the given looks of the run find lowered clocks, and the launches of it. */
  const lowered = async (looks: readonly number[]) => {
    let [look, launches] = [0, 0];
    const kernel: FakeKernel = {
      ns: 5000,
      run(args) {
        launches++;
        multiply(args);
      },
    };
    const { rows: [row] } = await rowsOf(suiteOf(["kernel"]), {
      kernels: { kernel },
      telemetry: () => ({
        throttle: looks.includes(look++) ? "sw_power_cap" : "sync_boost",
      }),
    });
    return { throttle: row!.provenance.throttle, note: row!.note, launches };
  };
  // One look before each series, one after it, one after each rest between two series.
  const quiet = await lowered([]);
  const before = await lowered([0, 2]);
  const once = await lowered([1]);
  const rested = await lowered([1, 2, 3]);
  const twice = await lowered([1, 4]);
  assertEquals(before, quiet);
  assertEquals([once.throttle, once.note], ["sync_boost", ""]);
  assertEquals(rested, once);
  assert(once.launches > 1.5 * quiet.launches);
  assertEquals(twice.throttle, "sw_power_cap");
  assertMatch(twice.note, /^measured twice, .*clocks: sw_power_cap$/);
});

Deno.test("run() waits for the clocks for a second of one case, and for two in all", async () => {
  let looks = 0;
  const entries = ["a", "b", "c"];
  const kernels = Object.fromEntries(entries.map((entry) => [entry, right]));
  const counts: number[] = [];
  await withRig({
    kernels,
    telemetry: () => {
      looks++;
      return { throttle: "sw_thermal_slowdown" };
    },
  }, async (context) => {
    for (const c of suiteOf(entries).cases("all")) {
      looks = 0;
      await run(c, context);
      counts.push(looks);
    }
  });
  assertEquals(counts, [14, 14, 4]);
});

Deno.test("run() measures sets once more from poison in each", async () => {
  for (let chance = 1; chance <= 8; chance++) {
    let look = 0;
    const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
      kernels: { right },
      chance,
      placement: { copies: 4, pageBytes: 1 },
      telemetry: () => ({ throttle: look++ === 1 ? "sw_power_cap" : "" }),
    });
    assertEquals([row!.status, row!.note], ["ok", ""]);
  }
});

Deno.test("run() reports every config of a search, also one that cannot run", async () => {
  const picky = defineKernel(matmul, {
    name: "picky",
    backend: "fake",
    idea: "runs at one of two configs",
    configs: () => [{ SPLIT: 2 }, { SPLIT: 4 }],
    builds:
      () => [{ source: new URL("./fake.ts", import.meta.url), defines: {} }],
    prepare({ config, point, operands, program }) {
      if (config.SPLIT === 2) throw new CaseError("unsupported", "No halves");
      const build = {
        source: new URL("./fake.ts", import.meta.url),
        defines: {},
      };
      const step = program(build, "right").step(
        matmul.args(point, operands),
        { grid: [1, 1, 1], block: [1, 1, 1] },
      );
      return { steps: [step] };
    },
  });
  const suite = defineSuite<MatmulPoint>({
    name: "s",
    title: "S",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    kernels: [picky],
    baselines: [],
  });
  const { rows: [row], events } = await rowsOf(suite, {
    kernels: { right },
    settings: { search: 0.1 },
  });
  assertEquals([row!.status, row!.config], ["ok", "SPLIT=4"]);
  assertEquals(
    events.filter((e) => e.event === "config").map((e) => [
      e.config,
      e.status,
      e.note,
    ]),
    [["SPLIT=2", "unsupported", "No halves"], ["SPLIT=4", "ok", ""]],
  );
});

Deno.test("run() gives signs of life while a compiler is at work", async () => {
  const suite = suiteOf(["right"], { BM: [1] });
  const { rows: [row], events } = await rowsOf(suite, {
    kernels: { right },
    compileMs: 1_000,
  });
  assertStrictEquals(row?.status, "ok");
  assert(events.filter(({ event }) => event === "alive").length >= 3);
});
