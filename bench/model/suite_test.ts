import type { DeviceInfo } from "../device/device.ts";
import { choices } from "./axes.ts";
import { UserError } from "./errors.ts";
import { formatValues, grid, parseValues } from "./grid.ts";
import { defineKernel, defineLaunch } from "./kernel.ts";
import { defineSuite, type Overrides } from "./suite.ts";
import { caseText, keyOf } from "../row/row.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { qmm, type QmmPoint } from "../../kernels/qmm/mod.ts";
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";

const kernel = (name: string, follows?: string) =>
  defineKernel(matmul, {
    name,
    backend: "cpu",
    idea: "none",
    ...(follows === undefined ? {} : { follows }),
    prepare: () => ({ steps: [] }),
  });

const suite = defineSuite<MatmulPoint>({
  name: "s",
  title: "S",
  op: matmul,
  axes: { m: [16, 32], k: [64, 128] },
  tie: { n: "m" },
  fixed: { type: "f16", epilogue: "relu" },
  quick: { k: [64] },
  kernels: [kernel("first"), kernel("follower", "first")],
  baselines: ["first"],
});

const shapes = (set: "all" | "quick", overrides: Overrides = {}) => [
  ...new Set(
    [...suite.cases(set, overrides)].map(({ problem: { key } }) =>
      `${key.m}x${key.n}x${key.k}`
    ),
  ),
];

Deno.test("Suite.cases() sweeps its axes, the last fastest, ties included", () => {
  deepStrictEqual(shapes("all"), [
    "16x16x64",
    "16x16x128",
    "32x32x64",
    "32x32x128",
  ]);
  deepStrictEqual(shapes("quick"), ["16x16x64", "32x32x64"]);
});

Deno.test("Suite.cases() ties an overridden axis unless its tie is given too", () => {
  deepStrictEqual(shapes("quick", { m: [24] }), ["24x24x64"]);
  deepStrictEqual(shapes("quick", { m: [24], n: [8, 9] }), [
    "24x8x64",
    "24x9x64",
  ]);
  deepStrictEqual(shapes("quick", { n: [8] }), ["16x8x64", "32x8x64"]);
});

Deno.test("Suite.cases() refuses what is no axis and no size", () => {
  throws(
    () => [...suite.cases("all", { x: [1] })],
    /no axis x: its axes are m, k, n/,
  );
  throws(
    () => [...suite.cases("all", { k: [0] })],
    /k is 0: give a whole number/,
  );
  throws(() => [...suite.cases("all", { m: [1.5] })], /m is 1.5/);
});

Deno.test("Suite.cases() refuses a field that its operation does not have", () => {
  const made = (part: object) =>
    defineSuite<MatmulPoint>({
      name: "s",
      title: "S",
      op: matmul,
      axes: { m: [16], k: [64] },
      tie: { n: "m" },
      kernels: [kernel("one")],
      baselines: [],
      ...part,
    });
  const message =
    /^Suite s cannot be used: matmul has no axis typ: its axes are m, n, k, type, /;
  for (
    const part of [
      { fixed: { typ: "f16" } },
      { axes: { m: [16], k: [64], typ: ["f16"] } },
      { axes: { m: [16], shapes: [{ k: 64, typ: "f16" }] } },
      { tie: { n: "m", typ: "m" } },
      { tie: { n: "typ" } },
    ]
  ) throws(() => [...made(part).cases("all")], { name: "UserError", message });
  throws(() => [...made({ fixed: { typ: "f16" } }).cases("edge-own")], {
    name: "UserError",
    message,
  });
});

Deno.test("defineSuite() refuses values and ties that are none, and says what they are", () => {
  const made = (part: object) => () => [
    ...defineSuite<MatmulPoint>({
      name: "s",
      title: "S",
      op: matmul,
      baselines: [],
      axes: { m: [16], k: [64] },
      tie: { n: "m" },
      ...part,
      kernels: [kernel("one")],
    }).cases("all"),
  ];
  const none = (value: string, axis = "m") =>
    `Cannot define the suite s: its axis ${axis} has the value ${value}: give numbers or texts, such as \`${axis}: [16, 32]\``;
  const refusals: readonly (readonly [object, string | RegExp])[] = [
    [{ axes: { m: [null], k: [64] } }, none("null")],
    [{ axes: { m: [undefined], k: [64] } }, none("undefined")],
    [{ axes: { m: [true], k: [64] } }, none("true")],
    [{ axes: { m: [8n], k: [64] } }, none("8n, a bigint")],
    [{ axes: { shapes: [{ m: 8, k: null }] } }, none("null", "shapes")],
    [{ quick: { m: [null] } }, none("null")],
    [{ fixed: { type: null } }, none("null", "type")],
    [
      { axes: { m: ["8"], k: [64] } },
      /^Suite s cannot be used: m is the text "8": give a whole number of at least 1, /,
    ],
    [
      { tie: { n: "constructor" } },
      /^Suite s cannot be used: matmul has no axis constructor: its axes are m, n, k, /,
    ],
  ];
  for (const [part, message] of refusals) {
    throws(made(part), { name: "UserError", message });
  }
  strictEqual(made({ fixed: { type: undefined } })().length, 1);
});

Deno.test("Suite.cases() gives a kernel the case that it follows", () => {
  const [first, follower] = [...suite.cases("all")];
  strictEqual(follower!.follows, first);
  strictEqual(follower!.problem, first!.problem);
});

Deno.test("caseText() differs between any two cases of a suite", () => {
  const keys = [...suite.cases("all")].map((c) => caseText(keyOf(c)));
  strictEqual(new Set(keys).size, 8);
});

Deno.test("keyOf() has the key's columns as text", () => {
  const [c] = [...suite.cases("all")];
  deepStrictEqual(keyOf(c!), {
    suite: "s",
    op: "matmul",
    kernel: "first",
    backend: "cpu",
    a_type: "f16",
    b_type: "f16",
    c_type: "f16",
    acc_type: "f32",
    layout: "nn",
    m: "16",
    n: "16",
    k: "64",
    params: "epilogue=relu",
  });
});

Deno.test("parseValues() reads what formatValues() writes", () => {
  for (const values of [{}, { BM: 16, SPLIT: 64 }, { a: "x", b: -1.5 }]) {
    deepStrictEqual(parseValues(formatValues(values)), values);
  }
});

Deno.test("grid() of a list without values is empty", () => {
  strictEqual([...grid({ m: [1], n: [] })].length, 0);
});

Deno.test("defineSuite() says what is missing or off", () => {
  const spec = {
    name: "s",
    title: "S",
    op: matmul,
    axes: { m: [16], k: [64] },
    kernels: [kernel("one")],
    baselines: [],
  };
  const refused = (part: object, message: RegExp) =>
    throws(() => defineSuite<MatmulPoint>({ ...spec, ...part }), message);
  refused({ name: "../evil" }, /its name must be letters/);
  refused({ name: "" }, /its name must be letters/);
  // `<name>.samples.jsonl.gz` and a draft beside it have to be names of files.
  refused({ name: "x".repeat(101) }, /suite "x{38}…: its name must be.*100 at/);
  defineSuite<MatmulPoint>({ ...spec, name: "x".repeat(100) });
  const named = (name: string) => ({ ...kernel("x"), name });
  refused({ kernels: [named("")] }, /entry 0 of its kernels has no name/);
  const names = ["a\nb", "a,b", "a b", "\x1b[2Jx", "-x", "x".repeat(101)];
  for (const name of names) {
    refused(
      { kernels: [kernel("one"), named(name)] },
      /Cannot define the suite s: the name ".* of entry 1 of its kernels must be/,
    );
  }
  refused({ axes: undefined }, /it has no axes, such as/);
  refused({ axes: { m: [] } }, /its axis m has no values/);
  refused(
    { axes: { m: 16 } },
    /its axis m is no list, such as `m: \[16, 32\]`/,
  );
  const twice =
    /: its axis m is set twice \(in axes, tie or fixed\): leave out one/;
  refused({ fixed: { m: 3 } }, twice);
  refused({ tie: { n: "m", m: "n" } }, twice);
  refused({ axes: { m: [16], s: [{ m: 8, n: 8 }, { m: 9, n: 9 }] } }, twice);
  refused(
    { tie: { n: "m" }, quick: { n: [8] } },
    /its axis n is set twice \(in quick and tie\)/,
  );
  refused(
    { tie: { m: "n" }, axes: { k: [64] } },
    /it ties m to n, which is not/,
  );
  refused({ op: {} }, /it has no op/);
  refused({ kernels: [undefined] }, /entry 0 of its kernels is not a kernel/);
  refused(
    { kernels: [kernel("one"), kernel("one")] },
    /two kernels named one on cpu/,
  );
});

Deno.test("Suite.cases() leaves out edge-case sizes that the suite's own fields refuse", () => {
  const groups = defineSuite<QmmPoint>({
    name: "g",
    title: "G",
    op: qmm,
    axes: { m: [1], n: [64], k: [64] },
    fixed: { mode: "affine", group: 128 },
    kernels: [defineKernel(qmm, {
      name: "mine",
      backend: "cpu",
      idea: "none",
      prepare: () => ({ steps: [] }),
    })],
    baselines: [],
  });
  const own = [...groups.cases("edge-own")].map((c) => c.problem.key.k);
  // 48, 192 and others are no multiples of 128.
  deepStrictEqual([...new Set(own)].toSorted((a, b) => a - b), [
    ...[256, 384, 640, 1152, 1408, 2048],
  ]);
});

Deno.test("Suite.cases() takes no column stride from edge-case shapes for a suite without one", () => {
  const suite = defineSuite<MatmulPoint>({
    name: "s",
    title: "S",
    op: matmul,
    axes: { m: [16], k: [64] },
    tie: { n: "m" },
    kernels: [kernel("one")],
    baselines: [],
  });
  const edges = [...suite.cases("edge-own")].map((c) => c.problem.key.params);
  deepStrictEqual(edges.filter((params) => /stepc/.test(params)), []);
  const steps = matmul.edgeCases.filter(({ stepc }) => stepc > 1);
  deepStrictEqual(steps.length > 0 && edges.length > 0, true);
});

Deno.test("Suite.cases() has edge-case shapes with padded rows for a suite with strides", () => {
  const strides = (...padding: readonly string[]) => {
    const suite = defineSuite<MatmulPoint>({
      name: "s",
      title: "S",
      op: matmul,
      axes: { m: [16], k: [64] },
      tie: { n: "m" },
      padding,
      kernels: [kernel("one")],
      baselines: [],
    });
    const edges = [...suite.cases("edge-own")].map((c) => c.problem.key.params);
    return edges.flatMap((params) => params.match(/\bld[abc](?==)/g) ?? []);
  };
  deepStrictEqual(strides(), []);
  deepStrictEqual([...new Set(strides("lda"))], ["lda"]);
  const all = new Set(strides("lda", "ldb", "ldc"));
  deepStrictEqual([...all].toSorted(), ["lda", "ldb", "ldc"]);
  throws(() => strides("ldx"), {
    message: /its padding names ldx, which is no stride of matmul: there are /,
  });
});

Deno.test("Kernel.unsupported() refuses what is neither a reason nor nothing", () => {
  const wrong = (() => true) as unknown as () => string;
  const odd = defineKernel(matmul, {
    name: "odd",
    backend: "cpu",
    idea: "none",
    unsupported: wrong,
    prepare: () => ({ steps: [] }),
  });
  const [c] = [
    ...defineSuite<MatmulPoint>({
      name: "s",
      title: "S",
      op: matmul,
      axes: { m: [16], k: [64] },
      tie: { n: "m" },
      kernels: [odd],
      baselines: [],
    }).cases("all"),
  ];
  throws(() => c!.unsupported({} as DeviceInfo), {
    name: "UserError",
    message:
      /^unsupported\(\) of odd gave true, which is no reason: give a text/,
  });
});

Deno.test("defineLaunch() refuses a grid that nobody can search", () => {
  const values = Array.from({ length: 10 }, (_, i) => i);
  const tunables = Object.fromEntries(
    [..."ABCDEFGHIJ"].map((name) => [name, values]),
  );
  const define = () =>
    defineLaunch(matmul, {
      name: "large",
      backend: "cpu",
      source: new URL("./none.c", import.meta.url),
      entry: "large",
      tunables,
    });
  throws(define, {
    name: "UserError",
    message:
      "Cannot define the kernel large: its tunables make more than 200000 configs, legal and illegal: give its tunables shorter lists",
  });
});

const SUITE = {
  name: "mine",
  axes: {
    weights: [{ n: 2560, k: 2560 }, { n: 2048, k: 8192 }, { n: 64, k: 8192 }],
    m: [1, 2],
  },
};

const chosen = (overrides: Readonly<Record<string, readonly number[]>>) =>
  [...choices(SUITE, overrides)].map(({ m, n, k }) => `${m}x${n}x${k}`);

Deno.test("choices() sets several fields at once, the last axis varying fastest", () => {
  deepStrictEqual(chosen({}), [
    ...["1x2560x2560", "2x2560x2560", "1x2048x8192", "2x2048x8192"],
    ...["1x64x8192", "2x64x8192"],
  ]);
});

Deno.test("choices() replaces one of several fields, and has what is alike once", () => {
  deepStrictEqual(chosen({ n: [16, 32], m: [7] }), [
    ...["7x16x2560", "7x32x2560", "7x16x8192", "7x32x8192"],
  ]);
  deepStrictEqual(chosen({ n: [16], k: [32, 64], m: [7] }), [
    ...["7x16x32", "7x16x64"],
  ]);
});

Deno.test("choices() ties a field to one of several", () => {
  const tied = { name: "mine", axes: { w: [{ n: 8, x: 1 }] }, tie: { k: "n" } };
  deepStrictEqual([...choices(tied, {})], [{ n: 8, x: 1, k: 8 }]);
  deepStrictEqual([...choices(tied, { n: [4] })], [{ n: 4, x: 1, k: 4 }]);
  deepStrictEqual([...choices(tied, { k: [5, 6] })], [
    { n: 8, x: 1, k: 5 },
    { n: 8, x: 1, k: 6 },
  ]);
});

Deno.test("choices() names the fields that there are", () => {
  throws(
    () => [...choices(SUITE, { q: [1] })],
    new UserError("Suite mine has no axis q: its axes are n, k, m"),
  );
});
