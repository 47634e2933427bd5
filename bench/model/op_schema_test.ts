import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { CaseError, UserError } from "./errors.ts";
import type { Values } from "./grid.ts";
import { defineKernel } from "./kernel.ts";
import type { Op } from "./op.ts";
import { defineSuite, problemOf } from "./suite.ts";

/** Row sums at m = n = 2, as `part` changes them. */
function opWith(part: object): Op<Values> {
  return {
    name: "sums",
    axes: [{ name: "m", about: "rows of A", values: "size" }],
    point: (values) => values,
    operands: () => [
      { name: "A", role: "in", type: "f32", rows: 2, cols: 2, ld: 2 },
      { name: "C", role: "out", type: "f32", rows: 2, cols: 1, ld: 1 },
    ],
    inputs: () => [new Uint8Array(16)],
    reference: () => ({
      all: () => new Float64Array(2),
      at: (_, rows) => new Float64Array(rows.length),
    }),
    tolerance: () => ({ rtol: 0, atol: 0 }),
    work: () => ({ flops: 2, bytes: 24 }),
    key: () => key,
    args: () => [],
    mutants: () => [],
    edgeCases: [],
    ...part,
  };
}

const key = {
  a_type: "f32" as const,
  b_type: "f32" as const,
  c_type: "f32" as const,
  acc_type: "f32" as const,
  layout: "nn",
  m: 2,
  n: 2,
  k: 1,
  params: "",
};

/** The first case of a suite of {@linkcode opWith}. */
function firstOf(part: object) {
  const op = opWith(part);
  const none = defineKernel(op, {
    name: "none",
    backend: "cpu",
    idea: "none",
    prepare: () => ({ steps: [] }),
  });
  const suite = defineSuite({
    name: "s",
    title: "S",
    op,
    axes: { m: [2] },
    kernels: [none],
    baselines: [],
  });
  return [...suite.cases("all")][0]!;
}

const m = { name: "m", about: "rows", values: "size" };

const DEFINED: readonly (readonly [string, object, RegExp])[] = [
  ["no name", { name: "" }, /its op has a wrong name, such as `name/],
  [
    "no axes",
    { axes: undefined },
    /its op sums has no axes, such as `axes: \[/,
  ],
  ["an empty list of axes", { axes: [] }, /its op sums has no axes, such as/],
  ["an axis twice", { axes: [m, m] }, /sums declares the axis m twice: rename/],
  [
    "values that are none",
    { axes: [{ ...m, values: [] }] },
    /has a wrong values of entry 0 of its axes/,
  ],
  [
    "edge cases that are no list",
    { edgeCases: 5 },
    /its op sums has a wrong edgeCases, such as `edgeCases: \[/,
  ],
  ["no work()", { work: undefined }, /its op sums has no work, such as `work/],
];

for (const [what, part, why] of DEFINED) {
  Deno.test(`defineSuite() refuses an op with ${what}`, () => {
    const { message } = assertThrows(() => firstOf(part), UserError);
    assertMatch(message, /^Cannot define the suite s: its op [^\n]*$/);
    assertMatch(message, why);
  });
}

const operand = {
  name: "C",
  role: "out",
  type: "f32",
  rows: 2,
  cols: 2,
  ld: 2,
};
const operands = (...list: readonly object[]) => ({
  operands: () => list.map((part) => ({ ...operand, ...part })),
});
const work = (part: object) => ({
  work: () => ({ flops: 2, bytes: 24, ...part }),
});
const keyed = (part: object) => ({ key: () => ({ ...key, ...part }) });

const RETURNED: readonly (readonly [string, object, RegExp])[] = [
  [
    "a type that is none",
    operands({ type: "f99" }),
    /gave 0\.type "f99" at m=/,
  ],
  ["a short row stride", operands({ ld: 1 }), /operands\(\) .*and ld at least/],
  ["half a row", operands({ rows: 0.5 }), /gave 0\.rows 0\.5 at m=2:/],
  ["no output", operands({ role: "in" }), /"out" being the role of one/],
  ["two operands of one name", operands({}, {}), /of different names/],
  [
    "no operands",
    { operands: () => undefined },
    /operands\(\).*gave undefined/,
  ],
  ["NaN flops", work({ flops: NaN }), /work\(\) .* gave flops NaN at m=2:/],
  ["negative bytes", work({ bytes: -1 }), /gave bytes -1 .*at least 0$/],
  ["a tolerance of NaN", { tolerance: () => NaN }, /tolerance\(\) .* gave NaN/],
  ["an empty tolerance", { tolerance: () => ({}) }, /gave rtol undefined at m/],
  ["params that are no text", keyed({ params: 5 }), /gave params 5: give four/],
  ["params without names", keyed({ params: "relu" }), /gave params "relu": g/],
  ["a size that is none", keyed({ m: NaN }), /key\(\) of .* gave m NaN: give/],
];

for (const [what, part, why] of RETURNED) {
  Deno.test(`Suite.cases() refuses an op that returns ${what}`, () => {
    const { message } = assertThrows(() => firstOf(part), UserError);
    assertMatch(
      message,
      /^Suite s cannot be used: \w+\(\) of its op sums gave [^\n]*$/,
    );
    assertMatch(message, why);
  });
}

Deno.test("a problem has the operands, inputs and reference of a right op", () => {
  const problem = problemOf(opWith({}), {});
  const inputs = problem.inputs({ seed: 0, fill: "normal" });
  assertEquals(inputs.map(({ length }) => length), [16]);
  assertEquals(problem.reference(inputs).all(0).length, 2);
  assertEquals(problem.reference(inputs).at(0, [1]).length, 1);
  assertEquals(firstOf({}).problem.title, "m=2");
});

Deno.test("a problem refuses inputs of a wrong size", () => {
  const failed = (inputs: unknown) =>
    assertThrows(
      () =>
        problemOf(opWith({ inputs: () => inputs }), {})
          .inputs({ seed: 0, fill: "normal" }),
      CaseError,
    ).message;
  assertEquals(
    failed([new Uint8Array(12)]),
    "Cannot use inputs() of the op sums: A is 12 bytes; give a Uint8Array of rows × ld elements, 16 bytes",
  );
  assertMatch(failed([[1, 2]]), /A is object; give a Uint8Array/);
  assertMatch(
    failed([]),
    /it gave 0 arrays; give one for each of the 1 operand/,
  );
  assertMatch(failed(undefined), /it gave undefined arrays/);
});

Deno.test("a problem says which op has a reference that throws", () => {
  const refuse = (): never => {
    throw new RangeError("no row 3");
  };
  for (const broken of [refuse, () => ({ all: refuse, at: refuse })]) {
    const { reference } = problemOf(opWith({ reference: broken }), {});
    assertEquals(
      assertThrows(() => reference([]).all(0), CaseError).message,
      "Cannot compute the reference of the op sums: RangeError: no row 3",
    );
  }
});

Deno.test("a problem refuses a reference of the wrong length", () => {
  const { reference } = problemOf(
    opWith({
      reference: () => ({
        all: () => new Float64Array(3),
        at: () => [0],
      }),
    }),
    {},
  );
  assertEquals(
    assertThrows(() => reference([]).all(0), CaseError).message,
    "Cannot use all(0) of the reference of the op sums: it gave 3 elements; give a Float64Array of 2 elements",
  );
  assertMatch(
    assertThrows(() => reference([]).at(0, [1]), CaseError).message,
    /at\(0, indices\) .* it gave object; give a Float64Array of 1 elements/,
  );
});
