import { assert, assertEquals } from "@std/assert";
import { decode, encode } from "../bench/model/dtype.ts";
import type { Op } from "../bench/model/op.ts";
import { softmax } from "../examples/op/suite.ts";
import { opsWithCases, title } from "./testdata/cases.ts";

/** Mutants that the tolerance let pass; and `right`, if the right answer did not. */
function slipsOf<P>(op: Op<P>, point: P): string[] {
  const inputs = op.inputs(point, { seed: 0, fill: "normal" });
  const right = op.reference(point, inputs);
  const types = op.operands(point).filter(({ role }) => role === "out").map((
    { type },
  ) => type);
  const { rtol, atol } = op.tolerance(point);
  const passes = (outputs: readonly Float64Array<ArrayBuffer>[]) =>
    outputs.every((output, i) => {
      const type = types[i]!;
      const want = right.all(i);
      return decode(encode(output, type), type).every((x, at) =>
        Math.abs(x - want[at]!) <= atol + rtol * Math.abs(want[at]!)
      );
    });
  const mutants = op.mutants(point, inputs, right);
  assert(mutants.length > 0, "no mutants");
  return [
    ...passes(types.map((_, i) => right.all(i))) ? [] : ["right"],
    ...mutants.filter(({ outputs }) => passes(outputs)).map(({ name }) => name),
  ];
}

for (const { entry: { op }, cases: { long = [] } } of await opsWithCases()) {
  for (const point of [...op.edgeCases, ...long]) {
    Deno.test(`mutants of ${op.name} fail at ${title(op, point)}`, () => {
      assertEquals(slipsOf(op, point), []);
    });
  }
}

Deno.test("mutants of examples/op fail at all its points", () => {
  const points = [{ m: 16, n: 1024 }, { m: 2, n: 5000 }];
  for (const point of [...softmax.edgeCases, ...points]) {
    assertEquals(slipsOf(softmax, point), []);
  }
});
