import { match, ok, strictEqual } from "node:assert/strict";
import { encode } from "../bench/model/dtype.ts";
import { problemOf } from "../bench/model/suite.ts";
import { groupedMatmul } from "../kernels/grouped/mod.ts";
import { matmul } from "../kernels/matmul/mod.ts";
import { peersOf } from "./torch.ts";
import { compareOutputs, peerOutputs, wrongSize } from "./outputs.ts";

const list = problemOf(
  groupedMatmul,
  groupedMatmul.point({ m: "3+5", n: 16, k: 64 }),
);
const reference = list.reference(list.inputs({ seed: 1, fill: "uniform" }));
const right = [reference.all(0), reference.all(1)];
const peer = (name: string) =>
  peersOf("grouped-matmul").find((one) => one.name === name)!;

/** Both outputs as `type`, one after the other. */
function stored(type: "f16" | "bf16"): Uint8Array<ArrayBuffer> {
  const [a, b] = right.map((values) => encode(values, type));
  return new Uint8Array([...a!, ...b!]);
}

Deno.test("compareOutputs() compares each of several outputs", () => {
  const expected = peerOutputs(peer("torch-eager"), list);
  const bytes = stored("f16");
  strictEqual(wrongSize(bytes, expected), undefined);
  const { wrong, accuracy } = compareOutputs(bytes, expected, right);
  strictEqual(wrong, undefined);
  strictEqual(accuracy.mismatches, 0);
  bytes.fill(0xff, 2 * 3 * 16);
  match(compareOutputs(bytes, expected, right).wrong!, /^C1: 80 of 80 .* NaN/);
});

Deno.test("peerOutputs() allows what rounding to bf16 adds, and no more", () => {
  const coarse = peerOutputs(peer("torch-grouped-mm"), list);
  strictEqual(coarse.outputs[0]!.type, "bf16");
  const bytes = stored("bf16");
  const { wrong, accuracy } = compareOutputs(bytes, coarse, right);
  strictEqual(wrong, undefined);
  // The operation's own tolerance has no room for it.
  ok(accuracy.max_rel_err > list.tolerance.rtol);
  const { tolerance } = list;
  ok(
    compareOutputs(bytes, { ...coarse, tolerance }, right).accuracy.mismatches >
      0,
  );
  const off = right.map((values) => values.map((x) => 1.01 * x));
  match(compareOutputs(bytes, coarse, off).wrong!, /elements mismatch/);
});

Deno.test("wrongSize() names the outputs and what they take", () => {
  const expected = peerOutputs(peer("torch-eager"), list);
  strictEqual(
    wrongSize(new Uint8Array(10), expected),
    "C0, C1: has 10 bytes, and 3×16 of f16, 5×16 of f16 are 256",
  );
});

Deno.test("compareOutputs() takes rows without the padding that the operation has", () => {
  const problem = problemOf(matmul, matmul.point({ m: 2, n: 3, k: 32 }));
  const [out] = problem.operands.filter(({ role }) => role === "out");
  const padded = { ...problem, operands: [{ ...out!, ld: 8 }] };
  const values = Float64Array.from([1, 2, 3, 4, 5, 6]);
  const { wrong } = compareOutputs(
    encode(values, out!.type),
    peerOutputs(undefined, padded),
    [values],
  );
  strictEqual(wrong, undefined);
});
