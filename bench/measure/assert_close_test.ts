import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import type { Device } from "../device/device.ts";
import { compare, worse } from "./assert_close.ts";
import { spreadIndices } from "./spread.ts";
import { OperandSet } from "./operands.ts";
import { encode } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";
import type { Operand } from "../model/problem.ts";
import type { Problem } from "../model/suite.ts";
import { throws } from "node:assert/strict";

const operand: Operand = {
  name: "C",
  role: "out",
  type: "f32",
  rows: 2,
  cols: 2,
  ld: 2,
};
const tolerance = { rtol: 0.1, atol: 0.5 };
const compared = (got: number[], right: number[]) =>
  compare(
    { operand, bytes: encode(got, "f32"), right: Float64Array.from(right) },
    tolerance,
  );

Deno.test("compare() allows atol + rtol·|ref|, the bound included", () => {
  const { wrong, accuracy } = compared([10, 1.5, -4, 0.5], [8.75, 1, -5, 0]);
  assertStrictEquals(wrong, undefined);
  assertEquals(accuracy, {
    max_abs_err: 1.25,
    max_rel_err: 0.5,
    rel_l2_err: Math.sqrt(
      (1.25 ** 2 + 0.25 + 1 + 0.25) / (8.75 ** 2 + 1 + 25),
    ),
    mismatches: 0,
  });
});

Deno.test("compare() says how many, how far and where", () => {
  const { wrong, accuracy } = compared([1, 2, 3, 9], [1, 2, 4.5, 5]);
  assertStrictEquals(accuracy.mismatches, 2);
  assertStrictEquals(
    wrong,
    "C: 2 of 4 elements mismatch (50.0 %); greatest absolute difference 4 at (1, 1), 9 instead of 5 (up to 0.5 allowed), greatest relative 0.8 at (1, 1) (up to 0.1 allowed), relative L2 0.6026",
  );
});

Deno.test("compare() gives the pair of a padded row, with the digits that differ", () => {
  const { wrong } = compare({
    operand: { ...operand, ld: 3 },
    bytes: encode([1, 2, NaN, 3, 1000.0625, NaN], "f32"),
    right: Float64Array.of(1, 2, 3, 1000),
  }, { rtol: 0, atol: 0 });
  assertMatch(
    wrong!,
    /difference 0\.0625 at \(1, 1\), 1000\.0625 instead of 1000 \(/,
  );
});

Deno.test("compare() never takes NaN for right", () => {
  assertMatch(
    compared([1, NaN, 3, 4], [1, 2, 3, 4]).wrong!,
    /1 of 4 elements are NaN/,
  );
  assertStrictEquals(
    compared([1, NaN, 3, 4], [1, NaN, 3, 4]).accuracy.mismatches,
    1,
  );
  assertMatch(
    compared([1, NaN, 3, 4], [1, NaN, 3, 4]).wrong!,
    /1 of 4 .*mismatch/,
  );
});

Deno.test("compare() treats infinity as far from everything else", () => {
  assertStrictEquals(
    compared([Infinity, 1, 1, 1], [1, 1, 1, 1]).accuracy.mismatches,
    1,
  );
  assertStrictEquals(
    compared([5, -Infinity, 1, 1], [Infinity, Infinity, 1, 1]).accuracy
      .mismatches,
    2,
  );
});

Deno.test("compare() takes an infinity for right where it is expected", () => {
  const { accuracy, wrong } = compared([Infinity, 2, 3, 4], [
    Infinity,
    2,
    3,
    4,
  ]);
  assertStrictEquals(wrong, undefined);
  assertEquals([accuracy.max_abs_err, accuracy.rel_l2_err], [0, 0]);
});

Deno.test("compare() finds a row written past its end", () => {
  const padded = { ...operand, ld: 3 };
  const bytes = encode([1, 2, 0, 3, 4, 0], "f32");
  bytes.fill(0xff, 8, 12);
  const output = { operand: padded, right: Float64Array.of(1, 2, 3, 4) };
  assertMatch(
    compare({ ...output, bytes }, tolerance).wrong!,
    /past the end of row 1/,
  );
  bytes.fill(0xff, 20, 24);
  assertStrictEquals(compare({ ...output, bytes }, tolerance).wrong, undefined);
  // The first byte of the first row's padding, and the last of the last row's.
  for (const [at, row] of [[8, 0], [11, 0], [20, 1], [23, 1]] as const) {
    const touched = bytes.slice();
    touched[at] = 0;
    assertMatch(
      compare({ ...output, bytes: touched }, tolerance).wrong!,
      new RegExp(`past the end of row ${row},`),
    );
  }
});

Deno.test("worse() takes the worse of each figure", () => {
  const one = { max_abs_err: 1, max_rel_err: 2, rel_l2_err: 3, mismatches: 4 };
  const two = { max_abs_err: 4, max_rel_err: 3, rel_l2_err: 2, mismatches: 1 };
  assertEquals(worse(one, two), {
    max_abs_err: 4,
    max_rel_err: 3,
    rel_l2_err: 3,
    mismatches: 5,
  });
  assertStrictEquals(
    worse({ ...one, bits: 20 }, { ...two, bits: 11 }).bits,
    11,
  );
  assertStrictEquals(worse(one, { ...two, bits: 11 }).bits, 11);
});

Deno.test("spreadIndices() does not keep to a few columns", () => {
  const columns = new Set(spreadIndices(4096 * 256, 256).map((i) => i % 256));
  assertStrictEquals(columns.size > 100, true);
  assertEquals(spreadIndices(3, 10), [0, 1, 2]);
});

Deno.test("OperandSet() makes no inputs for which the device has no room", () => {
  const full = {
    alloc(bytes: number) {
      throw new CaseError("oom", `Cannot allocate ${bytes} bytes`);
    },
  } as unknown as Device;
  const side = 1_000_000_000;
  const problem = {
    operands: [{
      name: "B",
      role: "in",
      type: "f32",
      rows: side,
      cols: side,
      ld: side,
    }],
    inputs() {
      throw new Error("Minutes would have passed");
    },
  } as unknown as Problem;
  throws(
    () => new OperandSet(problem, full, { seed: 0, fill: "normal" }),
    { failure: "oom", message: /^Cannot allocate 40{14}8\d{3} bytes$/ },
  );
});
