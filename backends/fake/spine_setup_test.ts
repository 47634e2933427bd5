import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { mem } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import type { Context, Plan } from "../../bench/model/kernel_spec.ts";
import { defineSuite, type Suite } from "../../bench/model/suite.ts";
import { tensorMapOn } from "../../bench/device/device.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { memoryOf, multiply, right, rowsOf } from "../testdata/spine.ts";
import { decode, encode } from "../../bench/model/dtype.ts";

const ONE = { grid: [1, 1, 1], block: [32, 1, 1] } as const;
const BUILD = { source: new URL("./fake.ts", import.meta.url), defines: {} };

/** A suite of one point and one kernel. */
function suiteOf(
  name: string,
  idea: string,
  prepare: (context: Context<MatmulPoint, Values>) => Plan,
): Suite {
  return defineSuite<MatmulPoint>({
    name: "spine",
    title: "Spine",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    fixed: { type: "bf16", epilogue: "none" },
    kernels: [
      defineKernel(matmul, {
        name,
        backend: "fake",
        idea,
        builds: () => [BUILD],
        prepare,
      }),
    ],
    baselines: [],
  });
}

Deno.test("alloc() fills a workspace with NaNs, or with the byte that is asked for", async () => {
  const seen: (number | undefined)[] = [];
  const suite = suiteOf("locks", "looks", ({ point, operands, ...site }) => {
    for (const memory of [site.alloc(4), site.alloc(4, 0)]) {
      seen.push(...memory.download());
    }
    const step = site.program(BUILD, "right")
      .step(matmul.args(point, operands), ONE);
    return { steps: [step] };
  });
  await rowsOf(suite, { kernels: { right } });
  assertEquals(seen.slice(0, 8), [255, 255, 255, 255, 0, 0, 0, 0]);
});

/** Its kernel copies B once and multiplies by the copy. */
const suiteWith = (setup: string) =>
  suiteOf(
    "prepared",
    "a copy of B, made once",
    ({ point, operands, program, alloc }) => {
      const copy = alloc(operands.B!.bytes);
      const copying = program(BUILD, setup);
      const args = matmul.args(point, { ...operands, B: copy });
      return {
        setup: [copying.step([mem(operands.B!), mem(copy)], ONE)],
        steps: [program(BUILD, "right").step(args, ONE)],
      };
    },
  );

Deno.test("Plan.setup runs once for given inputs, and is not timed", async () => {
  let copies = 0;
  const log: string[] = [];
  const { rows: [row] } = await rowsOf(suiteWith("copy"), {
    log: (what) => log.push(what),
    kernels: {
      right,
      copy: {
        ns: 1e9,
        run([from, to]) {
          copies++;
          memoryOf(to).set(memoryOf(from));
        },
      },
    },
  });
  assert(row?.status === "ok", row?.note);
  assertStrictEquals(row.figures.median_us, 5);
  // Before the check, after each of 16 changes while timed, and after they were undone.
  assertStrictEquals(copies, 1 + 16 + 1);
  // With as many empty launches as keep its place in the driver's ring.
  const after = log.slice(log.lastIndexOf("copy") + 1);
  const queued = after.slice(0, after.findIndex((what) => /^fill/.test(what)));
  assertStrictEquals(queued.filter((what) => what === "empty").length, 31);
});

Deno.test("Plan.setup that fails is the kernel's failure", async () => {
  const { rows } = await rowsOf(suiteWith("broken"), {
    kernels: {
      right: { ns: 5000, run: multiply },
      broken: {
        ns: 1,
        run() {
          throw new CaseError("launch", "Cannot copy");
        },
      },
    },
  });
  assertEquals(rows.map(({ status, note }) => [status, note]), [
    ["launch", "Cannot copy"],
  ]);
});

Deno.test("tensorMapOn() in a plan makes the row unsupported where the device has none", async () => {
  const suite = suiteOf(
    "mapped",
    "a map of A",
    ({ device, operands, program }) => {
      const map = tensorMapOn(device, operands.A!, {
        type: "bf16",
        rows: 4,
        columns: 32,
        ld: 32,
        boxRows: 4,
        boxColumns: 32,
      });
      return { steps: [program(BUILD, "right").step([map], ONE)] };
    },
  );
  const { rows } = await rowsOf(suite, { kernels: { right } });
  assertEquals(rows.map(({ status, note }) => [status, note]), [[
    "unsupported",
    "Fake GPU (fake_1) with driver 1.0 has no tensor maps: a GPU of sm_90 or later with a driver of CUDA 12 or later has",
  ]]);
});

const build = { source: new URL("./fake.ts", import.meta.url), defines: {} };

/** A kernel that is off by 1/4 everywhere; `allowed` says how much is right at a SPLIT. */
function offSuite(allowed: (SPLIT: number) => number, SPLIT: number) {
  const off = defineKernel<MatmulPoint, { SPLIT: number }>(matmul, {
    name: "off",
    backend: "fake",
    idea: "rounds once a split",
    configs: () => [{ SPLIT }],
    builds: () => [build],
    tolerance: (_, config) => ({ rtol: 0.02, atol: allowed(config.SPLIT) }),
    prepare: ({ point, operands, program }) => ({
      steps: [
        program(build, "off").step(
          matmul.args(point, operands),
          { grid: [1, 1, 1], block: [1, 1, 1] },
        ),
      ],
    }),
  });
  return defineSuite<MatmulPoint>({
    name: "spine",
    title: "Spine",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    fixed: { type: "bf16", epilogue: "none" },
    kernels: [off],
    baselines: ["off"],
  });
}

const kernels = {
  off: {
    ns: 5000,
    run(args: readonly unknown[]) {
      multiply(args);
      const c = memoryOf(args[2]);
      c.set(encode(decode(c.slice(), "bf16").map((x) => x + 0.25), "bf16"));
    },
  },
};

Deno.test("run() checks a config at its kernel's own tolerance, and the row says so", async () => {
  const { rows: [row] } = await rowsOf(offSuite((s) => s / 8, 4), { kernels });
  assert(row?.status === "ok");
  assertStrictEquals(row.accuracy.mismatches, 0);
  assertStrictEquals(
    row.note,
    "right to within 0.5 + 0.02·|x|, others 0.01 + 0.02·|x|",
  );
});

Deno.test("run() finds a config wrong beyond its kernel's own tolerance", async () => {
  const { rows: [row] } = await rowsOf(offSuite((s) => s / 8, 1), { kernels });
  assert(row?.status === "wrong");
  assertMatch(row.note, /elements mismatch .* \(up to 0\.125 allowed\)/);
});

Deno.test("run() refuses a kernel's own tolerance that is none, and calls no result wrong", async () => {
  const given = [
    [() => Infinity, /it gave atol Infinity; give \{ rtol, atol \}, finite/],
    [() => NaN, /it gave atol NaN; give/],
    [() => -1, /it gave atol -1; give/],
    [() => "1" as unknown as number, /it gave atol "1"; give/],
    [
      () => JSON.parse("{"),
      /^Cannot ask tolerance\(\) of the kernel off: Synt/,
    ],
  ] as const;
  for (const [allowed, note] of given) {
    const { rows: [row] } = await rowsOf(offSuite(allowed, 4), { kernels });
    assert(row?.status === "launch");
    assertMatch(row.note, note);
    assertMatch(row.note, /^Cannot \w+ tolerance\(\) of the kernel off: /);
  }
});

Deno.test("run() chooses no config that stops working after some calls", async () => {
  let calls = 0;
  const tired = defineKernel<MatmulPoint, { TILE: number }>(matmul, {
    name: "tired",
    backend: "fake",
    idea: "counts its calls, and does not start again",
    configs: () => [{ TILE: 8 }, { TILE: 16 }],
    builds: (_, config) => [{ ...BUILD, defines: config }],
    prepare({ config, point, operands, program }) {
      const build = { ...BUILD, defines: config };
      return {
        setup: [program(build, "reset").step([], ONE)],
        steps: [
          program(build, "tired").step(matmul.args(point, operands), ONE),
        ],
      };
    },
  });
  const suite = defineSuite<MatmulPoint>({
    name: "spine",
    title: "Spine",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    fixed: { type: "bf16", epilogue: "none" },
    kernels: [tired],
    baselines: [],
  });
  let TILE: unknown;
  const { rows: [row] } = await rowsOf(suite, {
    kernels: {
      reset: { ns: 1, run: () => void (calls = 0) },
      tired: {
        ns: (_, defines) => (TILE = defines.TILE, TILE === 16 ? 7000 : 8000),
        run(args) {
          if (TILE === 8 || calls++ < 10) multiply(args);
        },
      },
    },
    settings: { search: 0.1 },
  });
  assertEquals(
    [row?.status, row?.config, row?.note],
    ["ok", "TILE=8", "wrong at TILE=16"],
  );
});
