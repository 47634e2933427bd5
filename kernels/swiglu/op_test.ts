import { assert, assertEquals } from "@std/assert";
import { compare } from "../../bench/measure/assert_close.ts";
import { precisionOf, termsOf } from "../../bench/measure/precision.ts";
import { decode, encode } from "../../bench/model/dtype.ts";
import { product, storedMatrix } from "../common/product.ts";
import { swiglu } from "./op.ts";

const OPTIONS = { seed: 5, fill: "normal" } as const;

/** What is found of an output that was rounded to `inner` wherever PyTorch rounds. */
function foundOf(type: "bf16" | "f16", inner: "bf16" | "f16" | "e4m3") {
  const point = swiglu.point({ m: 24, n: 64, k: 1024, type });
  const { m, n, k } = point;
  const inputs = swiglu.inputs(point, OPTIONS);
  const right = swiglu.reference(point, inputs);
  const [x, w1, w2] = inputs.map((bytes) => storedMatrix(bytes, type, k));
  const round = (values: Float64Array<ArrayBuffer>) =>
    decode(encode(values, inner), inner);
  const of = (w: typeof x) => round(product({ m, n, k, layout: "nt" }, x!, w!));
  const [gate, up] = [of(w1), of(w2)];
  const silu = round(gate.map((x) => x / (1 + Math.exp(-x))));
  const operand = swiglu.operands(point).at(-1)!;
  const output = {
    operand,
    bytes: encode(silu.map((x, i) => x * up[i]!), type),
    right: right.all(0),
  };
  const terms = termsOf([operand], right, swiglu.work(point).flops)[0];
  const { wrong, bits } = precisionOf(
    [{ ...output, terms }],
    swiglu.bits!(point),
  );
  return {
    close: compare(output, swiglu.tolerance(point)).wrong,
    precise: wrong,
    bits: bits!,
  };
}

for (const type of ["bf16", "f16"] as const) {
  Deno.test(`swiglu takes gates, silus and ups that are rounded to ${type}`, () => {
    const { close, precise, bits } = foundOf(type, type);
    assertEquals([close, precise], [undefined, undefined], `${bits} bits`);
  });
}

Deno.test("swiglu takes no gates and ups of a narrower type", () => {
  assert(foundOf("bf16", "e4m3").close);
  assert(foundOf("f16", "bf16").precise);
});
