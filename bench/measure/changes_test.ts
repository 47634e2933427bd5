import { assert, assertEquals, assertNotEquals } from "@std/assert";
import {
  changeable,
  changeOnDevice,
  changeOnHost,
  planChange,
  type StoredInput,
  systemRandom,
} from "./changes.ts";
import { gainOf } from "./guard.ts";
import { fake } from "../../backends/fake/fake.ts";
import { seeded } from "../../backends/testdata/spine.ts";
import { ops } from "../../kernels/mod.ts";
import { type Operand, storedBytes } from "../model/problem.ts";
import { BYTES, decode, type DType } from "../model/dtype.ts";

const INPUTS = { seed: 3, fill: "normal" } as const;

function storedAs(operand: Operand, bytes: Uint8Array<ArrayBuffer>) {
  const read = (offset: number, count: number) =>
    bytes.slice(offset, offset + count);
  return { operand, bytes, read };
}

function input(
  type: DType,
  [rows, cols, ld = cols]: readonly number[],
) {
  const operand: Operand = {
    name: "x",
    role: "in",
    type,
    rows: rows!,
    cols: cols!,
    ld: ld!,
  };
  const bytes = Uint8Array.from(
    { length: storedBytes(operand) },
    (_, i) => 7 * i + 1,
  );
  return storedAs(operand, bytes);
}

Deno.test("systemRandom() is in its range, and of no two is the same", () => {
  const [a, b] = [systemRandom(), systemRandom()].map((below) =>
    Array.from({ length: 600 }, () => below(1000))
  );
  assert(a!.every((x) => Number.isInteger(x) && x >= 0 && x < 1000));
  assert(new Set(a).size > 300);
  assertNotEquals(a, b);
});

Deno.test("changeable() leaves positions alone", () => {
  assertEquals(
    changeable([
      input("f32", [2, 2]),
      input("i32", [4, 1]),
      input("u8", [0, 4]),
    ]),
    [0],
  );
});

Deno.test("changes are the same on the device and on the host, and spare padding", () => {
  const backend = fake({ kernels: {} });
  using device = backend.open(backend.find().devices[0]!);
  for (const type of ["f32", "bf16", "e4m3", "u32", "e2m1x2"] as const) {
    for (const shape of [[5, 6, 8], [5, 6], [1, 9], [9, 1], [1, 1]]) {
      const stored = input(type, shape);
      const { rows, cols, ld } = stored.operand;
      const now: (Uint8Array<ArrayBuffer> | undefined)[] = [];
      using memory = device.alloc(stored.bytes.length);
      using original = device.alloc(stored.bytes.length);
      memory.upload(stored.bytes);
      original.upload(stored.bytes);
      const below = seeded(rows + cols);
      for (let i = 0; i < 30; i++) {
        const options = { below, whole: i % 3 === 0, gain: 4 };
        for (const change of planChange([stored], [0], options)) {
          changeOnHost(change, now, [stored.bytes]);
          using patch = device.alloc(BYTES[type]);
          if (change.kind === "patch") patch.upload(change.bytes);
          const turned = 0;
          changeOnDevice(change, { input: memory, original, turned, patch });
        }
        assertEquals(
          memory.download(),
          now[0] ?? stored.bytes,
          `${type} ${shape}, ${i}`,
        );
      }
      const size = BYTES[type];
      for (let b = 0; b < stored.bytes.length; b++) {
        if (Math.floor(b / size) % ld < cols) continue;
        const at = b % (ld * size);
        const pads = Array.from(
          { length: rows },
          (_, i) => stored.bytes[i * ld * size + at],
        );
        assert(pads.includes(now[0]![b]!), `padding byte ${b}`);
      }
    }
  }
});

Deno.test("planChange() turns whole rows where they have padding", () => {
  const stored = input("bf16", [5, 6, 8]);
  const below = seeded(2);
  for (let i = 0; i < 20; i++) {
    const [change] = planChange([stored], [0], { below, whole: true, gain: 2 });
    assert(change?.kind === "turn", change?.kind);
    assertEquals(change.turn % (8 * 2), 0);
    assert(change.turn > 0 && change.turn < stored.bytes.length);
  }
});

Deno.test("a patch of one element shows in outputs of every operation", () => {
  for (const { op } of ops) {
    for (const point of op.edgeCases) {
      const inputs = op.inputs(point, INPUTS);
      const operands = op.operands(point);
      const stored = operands.filter(({ role }) => role === "in").map(
        (operand, i) => storedAs(operand, inputs[i]!),
      );
      const outputs = operands.filter(({ role }) => role === "out");
      const right = op.reference(point, inputs);
      const before = outputs.map((_, i) => right.all(i));
      const tolerance = op.tolerance(point);
      const gain = gainOf({ work: op.work(point) }, before, tolerance);
      const below = seeded(1);
      let shown = 0;
      for (let i = 0; i < 12; i++) {
        const now: Uint8Array<ArrayBuffer>[] = [];
        const which = changeable(stored);
        const options = { below, whole: i % 4 === 0, gain };
        for (const change of planChange(stored, which, options)) {
          changeOnHost(change, now, inputs);
        }
        const after = op.reference(
          point,
          inputs.map((bytes, i) => now[i] ?? bytes),
        );
        const differs = before.some((was, output) =>
          after.all(output).some((x, at) =>
            Math.abs(x - was[at]!) >
              3 * (tolerance.atol + tolerance.rtol * Math.abs(was[at]!))
          )
        );
        if (differs) shown++;
      }
      // Single outputs are cut off at zero, or by a scale of zero.
      assert(
        shown >= 6,
        `${op.name} ${JSON.stringify(op.key(point))}: ${shown}`,
      );
    }
  }
});

Deno.test("gainOf() makes one element of long sums show", () => {
  const right = [
    Float64Array.from({ length: 256 }, (_, i) => 90 * Math.sin(i)),
  ];
  const work = { flops: 2 * 256 * 8192, bytes: 0 };
  const gain = gainOf({ work }, right, { rtol: 2e-2, atol: 1e-2 });
  // Eight tolerances of 1.3, where one usual element is 64 / sqrt(8192) of a sum of 64.
  assert(gain > 12 && gain < 20, `${gain}`);
  assertEquals(gainOf({ work }, right, { rtol: 1e-4, atol: 1e-3 }), 2);
});

Deno.test("planChange() keeps scales positive, and other values as large as asked", () => {
  const positive = input("f32", [4, 4]);
  positive.bytes.set(new Uint8Array(new Float32Array(16).fill(0.5).buffer));
  const signed = storedAs(positive.operand, positive.bytes.slice());
  new Float32Array(signed.bytes.buffer)[3] = -0.5;
  const of = (stored: StoredInput) =>
    planChange([stored], [0], { below: seeded(4), whole: false, gain: 8 })
      .map((change) =>
        change.kind === "patch" ? decode(change.bytes, "f32")[0]! : NaN
      );
  assertEquals(new Set(of(positive)), new Set([4]));
  assert(of(signed).every((x) => Math.abs(x) === 4));
  assert(of(signed).includes(-4));
});
