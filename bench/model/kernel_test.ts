import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import type { DeviceInfo } from "../device/device.ts";
import { i32, type LaunchShape } from "../device/queue.ts";
import { CaseError, UserError } from "./errors.ts";
import type { Values } from "./grid.ts";
import {
  candidatesOf,
  defineKernel,
  defineLaunch,
  definePython,
} from "./kernel.ts";
import type { KernelSpec, LaunchSpec } from "./kernel_spec.ts";
import type { SuiteSpec } from "./spec_schema.ts";
import { defineSuite } from "./suite.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { deepStrictEqual, throws } from "node:assert/strict";

const info: DeviceInfo = {
  index: 0,
  name: "GPU",
  arch: "sm_1",
  units: 2,
  cacheBytes: 0,
  flushBytes: 0,
  sharedBytes: 8,
  driver: "",
};
const configs = () => [{ T: 4 }, { T: 16 }, { T: 8 }, { T: 2 }];
const shared = (
  _: unknown,
  { T }: { T: number },
  { sharedBytes }: DeviceInfo,
) => T <= sharedBytes ? undefined : `${T} bytes of ${sharedBytes}`;
const from = { point: 0, info };

Deno.test("candidatesOf() refuses a rule that gives no reason", () => {
  for (const given of [true, false, null]) {
    // What nobody but a program without types can write.
    const wrong = (() => given) as unknown as () => undefined;
    throws(() => [...candidatesOf({ configs, rules: [() => wrong()] }, from)], {
      name: "UserError",
      message:
        `Its rule 1 gave ${given}, which is no reason: give a text that says why not, or undefined where it can run`,
    });
  }
});

Deno.test("candidatesOf() lists no more configs than anybody can wait for", () => {
  let made = 0;
  const endless = function* () {
    while (true) yield { T: made++ };
  };
  // Rules come after listing: those that they leave over do not matter.
  const rules = [() => "none of them"];
  throws(() => [...candidatesOf({ configs: endless, rules }, from)], {
    name: "UserError",
    message:
      "It has more than 200000 configs, legal and illegal: give its tunables shorter lists",
  });
  deepStrictEqual(made, 200_001);
});

Deno.test("candidatesOf() keeps the kernel's order where there is no model", () => {
  deepStrictEqual([...candidatesOf({ configs, rules: { shared } }, from)], [
    { config: { T: 4 } },
    { config: { T: 16 }, illegal: "16 bytes of 8", rule: "shared" },
    { config: { T: 8 } },
    { config: { T: 2 } },
  ]);
});

Deno.test("candidatesOf() puts the model's best first and what is illegal last", () => {
  const predict = (_: unknown, { T }: { T: number }) => T === 4 ? NaN : 100 / T;
  deepStrictEqual(
    [...candidatesOf({ configs, rules: { shared }, predict }, from)],
    [
      { config: { T: 8 }, predicted: 12.5 },
      { config: { T: 2 }, predicted: 50 },
      { config: { T: 4 }, predicted: Infinity },
      { config: { T: 16 }, illegal: "16 bytes of 8", rule: "shared" },
    ],
  );
});

Deno.test("candidatesOf() names rules of a list by function or place", () => {
  const rules = [
    shared,
    // Not named by what it is assigned to.
    ...[(_: unknown, { T }: { T: number }) => T === 2 ? "two" : undefined],
  ];
  deepStrictEqual(
    [...candidatesOf({ configs, rules }, from)].map(({ rule }) => rule),
    [undefined, "shared", undefined, "rule 2"],
  );
});

Deno.test("candidatesOf() is one config without tunables", () => {
  deepStrictEqual([...candidatesOf({}, from)], [{ config: {} }]);
});

const KERNEL: KernelSpec<MatmulPoint, Values> = {
  name: "mine",
  backend: "cpu",
  idea: "none",
  prepare: () => ({ steps: [] }),
};
const LAUNCH: LaunchSpec<MatmulPoint, Record<never, never>> = {
  name: "mine",
  backend: "cuda",
  entry: "mine",
  source: new URL("file:///mine.cu"),
  shape: () => ({ grid: [1, 1, 1], block: [1, 1, 1] }),
};

/** `spec` as somebody may have typed it, whose editor checks no types. */
function without<T extends object>(spec: T, field: keyof T, typo?: string): T {
  const { [field]: value, ...rest } = spec;
  return { ...rest, ...(typo && { [typo]: value }) } as T;
}

/** Demands that `define` refuses in one line, as `why` says. */
function refused(define: () => unknown, why: RegExp): void {
  const { message } = assertThrows(define, UserError);
  assertMatch(message, why);
  assertEquals(message.split("\n").length, 1);
}

Deno.test("defineLaunch() chooses source, entry, macros and arguments by point and config", () => {
  const folder = new URL("./sources/", import.meta.url);
  const kernel = defineLaunch(matmul, {
    name: "chosen",
    backend: "cuda",
    source: ({ m }) => new URL(m > 8 ? "tall.cu" : "flat.cu", folder),
    entry: ({ m }, { STAGES }) => `m${m}_stages${STAGES}`,
    tunables: { STAGES: [2, 3] },
    defines: ({ k }) => ({ K: k }),
    macroPrefix: "OWN_",
    flags: ["-lineinfo"],
    includes: [folder],
    compiler: "nvcc",
    args: (_, __, { STAGES }) => [i32(STAGES)],
    shape: () => ({ grid: [1, 1, 1], block: [1, 1, 1] }),
  });
  const point = matmul.point({ m: 16, n: 4, k: 8 });
  const config = { STAGES: 3 };
  const build = {
    source: new URL("tall.cu", folder),
    defines: { OWN_K: 8, OWN_STAGES: 3 },
    flags: ["-lineinfo"],
    includes: [folder],
    compiler: "nvcc",
  };
  assertEquals(kernel.builds(point, config), [build]);
  const asked: unknown[] = [];
  kernel.prepare({
    point,
    config,
    device: undefined as never,
    operands: {},
    alloc: () => undefined as never,
    program: (given, entry) => ({
      step(args) {
        asked.push(given, entry, args);
        return { label: "", capturable: true, enqueue() {} };
      },
    }),
  });
  assertEquals(asked, [build, "m16_stages3", [i32(3)]]);
});

Deno.test("defineLaunch() says what a shape lacks", () => {
  const point = matmul.point({ m: 16, n: 4, k: 8 });
  for (
    const [shape, why] of [
      [undefined, /its shape\(\) gave undefined: give a grid of three numbers/],
      [{ grid: [1, 1], block: [1, 1, 1] }, /gave {"grid":\[1,1\],.*a grid of/],
      [{ grid: [1, 1, 1] }, /a block of three numbers, such as \[16, 16, 1\]$/],
    ] as const
  ) {
    const kernel = defineLaunch(matmul, {
      ...LAUNCH,
      shape: () => shape as unknown as LaunchShape,
    });
    const error = assertThrows(() =>
      kernel.prepare({
        point,
        config: {},
        device: undefined as never,
        operands: {},
        alloc: () => undefined as never,
        program: () => undefined as never,
      }), CaseError);
    assertMatch(error.message, why);
  }
});

Deno.test("defineLaunch() keeps the tolerance of a kernel", () => {
  const kernel = defineLaunch(matmul, {
    name: "mine",
    backend: "cuda",
    entry: "mine",
    source: new URL("file:///mine.cu"),
    shape: () => ({ grid: [1, 1, 1], block: [1, 1, 1] }),
    tunables: { SPLIT: [2, 3] },
    tolerance: ({ k }, { SPLIT }) => ({ rtol: k, atol: SPLIT }),
  });
  const point = matmul.point({ m: 16, n: 4, k: 8 });
  assertEquals(kernel.tolerance?.(point, { SPLIT: 3 }), { rtol: 8, atol: 3 });
  assertEquals(defineLaunch(matmul, LAUNCH).tolerance, undefined);
  const wrong = { ...LAUNCH, tolerance: { rtol: 1, atol: 1 } as never };
  refused(
    () => defineLaunch(matmul, wrong),
    /mine: it has a wrong tolerance, /,
  );
});

Deno.test("definitions refuse a field that they do not know", () => {
  const suite = {
    name: "s",
    title: "S",
    op: matmul,
    axes: { m: [16] },
    kernels: [],
    baselines: [],
  };
  const refusals = [
    [
      () => defineLaunch(matmul, { ...LAUNCH, tunable: {} } as typeof LAUNCH),
      /^Cannot define the kernel mine: it has an unknown field tunable: did you mean tunables\?$/,
    ],
    [
      () =>
        defineKernel(matmul, { ...KERNEL, unsuported() {} } as typeof KERNEL),
      /^Cannot define the kernel mine: .* unsuported: did you mean unsupported\?$/,
    ],
    [
      () =>
        definePython(
          matmul,
          { name: "p", python: "p.py:f", shape: 1 } as never,
        ),
      /^Cannot define the kernel p: .* shape: its fields are takes, name, python, idea, unsupported$/,
    ],
    [
      () => defineSuite({ ...suite, axis: { n: [8] } } as typeof suite),
      /^Cannot define the suite s: it has an unknown field axis: did you mean axes\?$/,
    ],
  ] as const;
  for (const [define, why] of refusals) refused(define, why);
});

Deno.test("demandKernel() names each field that is missing", () => {
  const fields = ["name", "backend", "idea", "prepare"] as const;
  for (const field of fields) {
    const who = field === "name" ? "" : " mine";
    refused(
      () => defineKernel(matmul, without(KERNEL, field)),
      new RegExp(
        `^Cannot define the kernel${who}: it has no ${field}, such as \``,
      ),
    );
  }
});

Deno.test("demandLaunch() names each field that is missing, misspelt or off", () => {
  const c = { ...without(LAUNCH, "shape"), backend: "cpu" };
  assertEquals(defineLaunch(matmul, c).name, "mine");
  const needed = ["name", "backend", "entry", "source", "shape"] as const;
  for (const field of needed) {
    refused(
      () => defineLaunch(matmul, without(LAUNCH, field, "misspelt")),
      new RegExp(`: it has no ${field}, such as \``),
    );
  }
  const path = { ...LAUNCH, source: "./mine.cu" as unknown as URL };
  refused(() => defineLaunch(matmul, path), /mine: it has a wrong source, /);
  refused(
    () => defineLaunch(matmul, { ...LAUNCH, tunables: { BM: [] } }),
    /its tunable BM has no values/,
  );
  refused(
    () => defineLaunch(undefined as unknown as typeof matmul, LAUNCH),
    /its first argument is no operation/,
  );
});

Deno.test("demandSuite() refuses kernels that follow themselves, and what has no title or name", () => {
  const kernel = (name: string, follows: string) =>
    defineKernel(matmul, { ...KERNEL, name, follows });
  const suite = (change: Partial<SuiteSpec<MatmulPoint>>) =>
    defineSuite<MatmulPoint>({
      name: "s",
      title: "S",
      op: matmul,
      axes: { m: [16], n: [16], k: [64] },
      kernels: [],
      baselines: [],
      ...change,
    });
  refused(
    () => suite({ kernels: [kernel("a", "b"), kernel("b", "a")] }),
    /its kernel a follows itself: /,
  );
  refused(
    () => suite({ kernels: [without(kernel("a", "b"), "name")] }),
    /entry 0 of its kernels has no name/,
  );
  refused(() => suite({ title: "" }), /it has no title/);
  // A leader that is not there is no mistake: --kernel may have left it out.
  assertEquals(suite({ kernels: [kernel("a", "b")] }).kernels.length, 1);
});
