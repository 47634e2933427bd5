import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { BinaryCache } from "../bench/cache.ts";
import { DEFAULTS, type Settings } from "../bench/config.ts";
import { decode, encode } from "../bench/dtype.ts";
import { CaseError } from "../bench/errors.ts";
import { defineKernel, defineLaunch } from "../bench/kernel.ts";
import type { Event } from "../bench/protocol.ts";
import { Rig } from "../bench/rig.ts";
import type { Row } from "../bench/row.ts";
import { run } from "../bench/run.ts";
import { defineSuite } from "../bench/suite.ts";
import { matmul, type MatmulPoint } from "../kernels/matmul/mod.ts";
import { product } from "../kernels/matmul/product.ts";
import { fake, type FakeKernel, type FakeOptions } from "./fake.ts";

const source = new URL("./fake.ts", import.meta.url);
const memoryOf = (arg: unknown) =>
  (arg as { memory: { host: Uint8Array<ArrayBuffer> } }).memory.host;
const numberOf = (arg: unknown) => (arg as { value: number }).value;

/** A right product on the arguments (A, B, C, M, N, K, lda, ldb, ldc), bf16, `nn`. */
function multiply(args: readonly unknown[]): void {
  const [a, b, c] = args.slice(0, 3).map(memoryOf) as [
    Uint8Array<ArrayBuffer>,
    Uint8Array<ArrayBuffer>,
    Uint8Array<ArrayBuffer>,
  ];
  const [m, n, k, lda, ldb] = args.slice(3).map(numberOf) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const sums = product(
    { m, n, k, lda, ldb, layout: "nn" },
    decode(a.slice(), "bf16"),
    decode(b.slice(), "bf16"),
  );
  c.set(encode(sums, "bf16"));
}

const right: FakeKernel = { ns: 5000, run: multiply };

function suiteOf(
  entries: readonly string[],
  tunables: Record<string, readonly number[]> = {},
) {
  return defineSuite<MatmulPoint>({
    name: "spine",
    title: "Spine",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    fixed: { type: "bf16", epilogue: "none" },
    kernels: entries.map((entry) =>
      defineLaunch(matmul, {
        name: entry,
        backend: "fake",
        source,
        entry,
        tunables,
        shape: () => ({ grid: [1, 1, 1], block: [32, 1, 1] }),
      })
    ),
    baselines: [entries[0]!],
  });
}

async function rowsOf(
  suite: ReturnType<typeof suiteOf>,
  { settings = {}, ...options }: Partial<FakeOptions> & {
    settings?: Partial<Settings>;
    kernels: FakeOptions["kernels"];
  },
) {
  const dir = await Deno.makeTempDir();
  const backend = fake(options);
  const events: Event[] = [];
  using device = backend.open(backend.find().devices[0]!);
  using rig = await Rig.open({
    backend,
    device,
    cache: new BinaryCache(dir),
    settings: {
      ...DEFAULTS,
      warmup: 0.1,
      rep: 0.5,
      cacheDir: dir,
      ...settings,
    },
    run: "run-1",
    harness: "0.0.0",
    date: () => "2026-01-01T00:00:00Z",
    emit: (event) => events.push(event),
  });
  rig.calibrate(["bf16"]);
  const rows: Row[] = [];
  const samples: (readonly number[] | undefined)[] = [];
  for (const c of suite.cases("all")) {
    const outcome = await run(c, rig);
    rows.push(outcome.row);
    samples.push(outcome.samples);
  }
  await Deno.remove(dir, { recursive: true });
  return { rows, samples, events };
}

Deno.test("run() times a right kernel by the device's clock, flushes outside", async () => {
  const { rows: [row], samples: [samples] } = await rowsOf(
    suiteOf(["right"]),
    { kernels: { right } },
  );
  ok(row?.status === "ok");
  deepStrictEqual(row.figures, {
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
  strictEqual(samples!.length, 33);
  strictEqual(row.accuracy.mismatches, 0);
  strictEqual(row.accuracy.deterministic, true);
  strictEqual(row.config_by, "fixed");
  deepStrictEqual(
    [row.passport.timer, row.passport.flush, row.passport.flush_bytes],
    ["do_bench", "zero", 16384],
  );
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
  ok(row?.status === "ok");
  strictEqual(row.config_by, "search");
  strictEqual(row.config, "TILE=16");
  strictEqual(row.figures.median_us, 7);
  strictEqual(row.passport.search_configs, 3);
  deepStrictEqual(
    events.filter((e) => e.event === "config").map((
      e,
    ) => [e.config, e.median_us]),
    [["TILE=8", 9], ["TILE=16", 7], ["TILE=32", 9]],
  );
});

Deno.test("run() does not time a wrong kernel", async () => {
  let launches = 0;
  const zeros: FakeKernel = {
    ns: (launch) => (launches = launch + 1, 5000),
    run: (args) => memoryOf(args[2]).fill(0),
  };
  const { rows: [row] } = await rowsOf(suiteOf(["zeros"]), {
    kernels: { zeros },
  });
  ok(row?.status === "wrong");
  match(row.note, /C: 16 of 16 elements mismatch \(100 %\)/);
  strictEqual(row.accuracy?.mismatches, 16);
  strictEqual(launches, 1);
});

const FAULTS: readonly [string, FakeKernel["run"], RegExp][] = [
  [
    "leaves all unwritten",
    () => {},
    /16 of 16 elements are NaN: left unwritten/,
  ],
  [
    "leaves one unwritten",
    (args) => {
      multiply(args);
      memoryOf(args[2]).fill(0xff, 6, 8);
    },
    /1 of 16 elements are NaN/,
  ],
  [
    "writes past the end",
    (args) => {
      multiply(args);
      const c = memoryOf(args[2]);
      new Uint8Array(c.buffer).fill(0, c.byteOffset + 32, c.byteOffset + 40);
    },
    /C: wrote 8 bytes past its end/,
  ],
  [
    "writes before the start",
    (args) => {
      multiply(args);
      const c = memoryOf(args[2]);
      new Uint8Array(c.buffer).fill(0, c.byteOffset - 3, c.byteOffset);
    },
    /C: wrote 3 bytes before its start/,
  ],
  [
    "changes an input",
    (args) => {
      multiply(args);
      memoryOf(args[1])[9]! ^= 1;
    },
    /B: is an input, and was changed at byte 9/,
  ],
];

for (const [name, body, note] of FAULTS) {
  Deno.test(`run() finds that a kernel ${name}`, async () => {
    const { rows } = await rowsOf(suiteOf(["bad", "right"]), {
      kernels: { bad: { ns: 5000, run: body! }, right },
    });
    strictEqual(rows[0]!.status, "wrong");
    match(rows[0]!.note, note);
    strictEqual(rows[1]!.status, "ok", "the next kernel is not affected");
  });
}

Deno.test("run() finds a kernel that is right only the first time", async () => {
  let calls = 0;
  const fickle: FakeKernel = {
    ns: 5000,
    run(args) {
      if (calls++ < 10) multiply(args);
      else memoryOf(args[2]).fill(0);
    },
  };
  const { rows: [row] } = await rowsOf(suiteOf(["fickle"]), {
    kernels: { fickle },
  });
  strictEqual(row!.status, "wrong");
  match(row!.note, /^after timing, C: 16 of 16/);
});

Deno.test("run() turns failures of a kernel into rows", async () => {
  const { rows } = await rowsOf(suiteOf(["lost", "nowhere", "right"]), {
    kernels: {
      lost: {
        ns: 1,
        run() {
          throw new CaseError("launch", "Cannot synchronise: illegal address");
        },
      },
      right,
    },
  });
  deepStrictEqual(rows.map((r) => [r.status, r.note]), [
    ["launch", "Cannot synchronise: illegal address"],
    ["launch", "Cannot load nowhere: no such entry"],
    ["ok", ""],
  ]);
});

Deno.test("run() gives the compiler's first error and keeps its log", async () => {
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right },
    compileErrors: { "fake.ts": "fake.ts(1): error: no\nmore" },
  });
  strictEqual(row!.status, "compile");
  match(
    row!.note,
    /^fake\.ts\(1\): error: no \(log: .*fake\.[0-9a-f]+\.log\)$/,
  );
});

Deno.test("run() reports an allocation that does not fit", async () => {
  const hungry = defineKernel(matmul, {
    name: "hungry",
    backend: "fake",
    idea: "asks for too much",
    prepare: ({ alloc }) => (alloc(2 ** 31), { steps: [] }),
  });
  const suite = defineSuite<MatmulPoint>({
    name: "s",
    title: "S",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    kernels: [hungry],
    baselines: [],
  });
  const { rows: [row] } = await rowsOf(suite, { kernels: {} });
  strictEqual(row!.status, "oom");
  match(row!.note, /Cannot allocate 2147483648 bytes/);
});

Deno.test("run() times a graph as one replay a sample", async () => {
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right },
    settings: { timer: "graph", cache: "warm" },
  });
  ok(row?.status === "ok");
  strictEqual(row.figures.median_us, 5);
  // Warm: no flush in the estimate either.
  strictEqual(row.figures.samples, 100);
  strictEqual(row.passport.flush, "");
});

Deno.test("run() divides a batch by its distinct input sets", async () => {
  const inputs = new Set<string>();
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: {
      right: {
        ns: 5000,
        run(args) {
          inputs.add(memoryOf(args[0]).join());
          multiply(args);
        },
      },
    },
    settings: { timer: "batch:3" },
  });
  ok(row?.status === "ok");
  strictEqual(row.figures.median_us, 5);
  strictEqual(inputs.size, 3);
});
