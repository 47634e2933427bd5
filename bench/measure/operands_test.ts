import { assert, assertEquals, assertRejects } from "@std/assert";
import { fake } from "../../backends/fake/fake.ts";
import { matmul } from "../../kernels/matmul/mod.ts";
import type { Device } from "../device/device.ts";
import type { Memory } from "../device/queue.ts";
import { BYTES, decode, encode } from "../model/dtype.ts";
import { problemOf } from "../model/suite.ts";
import { POISON } from "./assert_close.ts";
import type { Operand } from "../model/problem.ts";
import type { Problem, Runnable } from "../model/suite.ts";
import { spreadIndices } from "./spread.ts";
import { HOST_FLOPS, OperandSet, referenceOf } from "./operands.ts";

const ELEMENTS = 2000;
/** Elements of the device's reference that the host computes too. */
const SAMPLED = spreadIndices(ELEMENTS, 256);

/** The reference of a large problem whose kernel is off by `error` at element `at`. */
async function referenceWith(
  { error, at, flops = 2 * HOST_FLOPS, type = "f32" }: {
    readonly error: number;
    readonly at: number;
    readonly flops?: number;
    readonly type?: "f32" | "f16";
  },
) {
  const right = Float64Array.from({ length: ELEMENTS }, (_, i) => i / 3 - 333);
  const operand: Operand = {
    name: "C",
    role: "out",
    type,
    rows: 1,
    cols: ELEMENTS,
    ld: ELEMENTS,
  };
  const problem = {
    operands: [operand],
    work: { flops, bytes: 1 },
    referenceKernel: () => ({}) as Runnable,
    reference: () => ({
      all: () => right,
      at: (_: number, indices: readonly number[]) =>
        Float64Array.from(indices, (i) => right[i]!),
    }),
  } as unknown as Problem;
  // What the device holds: a kernel that is timed later could find it.
  const held = { values: false, allocated: 0 };
  const stored = encode(
    right.map((x, i) => i === at ? x + error * (1 + Math.abs(x)) : x),
    "f64",
  );
  const memory = {
    bytes: stored.length,
    fill: () => void (held.values = false),
    slice: (from: number, bytes: number) => ({
      download: () => stored.slice(from, from + bytes),
    }),
    [Symbol.dispose]: () => void held.allocated--,
  } as unknown as Memory;
  const device = {
    info: { name: "Test" },
    alloc: () => (held.allocated++, memory),
    synchronize() {},
  } as unknown as Device;
  const set = { problem, inputs: [], memory: {} } as unknown as OperandSet;
  const { values: [output] } = await referenceOf(set, {
    device,
    options: { backend: { name: "test" } },
    prepare: () =>
      Promise.resolve({
        run: () => void (held.values = true),
        [Symbol.dispose]() {},
      }),
  });
  return { output: output!, held };
}

Deno.test("referenceOf() leaves no reference on the device", async () => {
  const { held } = await referenceWith({ error: 0, at: 0 });
  assertEquals(held, { values: false, allocated: 0 });
});

Deno.test("referenceOf() trusts a device that agrees with the host but for the order of sums", async () => {
  const { output } = await referenceWith({ error: 3e-10, at: SAMPLED[7]! });
  assertEquals(output.length, ELEMENTS);
  assertEquals(output[1], 1 / 3 - 333);
});

Deno.test("referenceOf() keeps fp32 of outputs of 16 bits, and compares double precision", async () => {
  const asked = { at: SAMPLED[7]!, type: "f16" } as const;
  const { output } = await referenceWith({ error: 3e-10, ...asked });
  assert(output instanceof Float32Array);
  assertEquals(output[1], Math.fround(1 / 3 - 333));
  await assertRejects(() => referenceWith({ error: 3e-9, ...asked }));
});

Deno.test("referenceOf() trusts no device that differs at one of the sampled elements", async () => {
  for (const which of [0, 1, 100, 255]) {
    for (const error of [3e-9, -1, NaN]) {
      await assertRejects(
        () => referenceWith({ error, at: SAMPLED[which]! }),
        Error,
        `Cannot trust the f64 reference on Test: element ${SAMPLED[which]} is`,
      );
    }
  }
});

Deno.test("referenceOf() takes the host's own reference up to 1e9 flops", async () => {
  const at = SAMPLED[0]!;
  const { output } = await referenceWith({ error: 1, at, flops: 1e9 });
  assertEquals(output[at], at / 3 - 333);
});

const I32: Operand = {
  name: "places",
  role: "in",
  type: "i32",
  rows: 1,
  cols: 40,
  ld: 40,
};

Deno.test("another OperandSet has the elements of the first in another order, and generates none", () => {
  const backend = fake({ kernels: {} });
  using device = backend.open(backend.find().devices[0]!);
  const point = matmul.point({ m: 5, n: 6, k: 33, lda: 40, epilogue: "bias" });
  const own = problemOf(matmul, point);
  let made = 0;
  const problem: Problem = {
    ...own,
    operands: [...own.operands, I32],
    inputs(options) {
      made++;
      return [...own.inputs(options), new Uint8Array(160).map((_, i) => i)];
    },
  };
  using first = new OperandSet(problem, device, { seed: 1, fill: "normal" });
  using scope = new DisposableStack();
  // A has five rows with padding, so there are no more that differ in A.
  const others = [1, 2, 3, 4].map((number) =>
    scope.use(new OperandSet(problem, device, { first, number }))
  );
  assertEquals(made, 1);
  const sorted = (set: OperandSet, i: number) =>
    [...decode(set.ins[i]!.bytes, set.ins[i]!.operand.type)].toSorted();
  for (const set of others) {
    for (const [i, { operand, part, bytes }] of set.ins.entries()) {
      assertEquals(part.download(), bytes, operand.name);
      assertEquals(set.inputs[i], bytes);
      assertEquals(sorted(set, i), sorted(first, i));
      const size = BYTES[operand.type];
      for (const at of [0, 1, operand.cols - 1]) {
        assertEquals(
          set.ins[i]!.read(at * size, size),
          bytes.slice(at * size, (at + 1) * size),
        );
      }
    }
    // Columns 33 to 39 of A are padding.
    const [a] = set.ins;
    assert(a!.bytes.slice(2 * 33, 2 * 40).every((byte) => byte === POISON));
    assertEquals(set.damage(), undefined);
    assertEquals(set.ins.at(-1)!.bytes, first.ins.at(-1)!.bytes);
  }
  for (const i of [0, 1]) {
    const texts = [first, ...others].map(({ ins }) => `${ins[i]!.bytes}`);
    assertEquals(new Set(texts).size, 5);
  }
});
