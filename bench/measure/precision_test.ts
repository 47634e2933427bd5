/** Effective bits of sums in many precisions, simulated. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { decode, type DType, encode } from "../model/dtype.ts";
import { values } from "../model/inputs.ts";
import { compareAll } from "./assert_close.ts";
import { precisionOf, termsOf } from "./precision.ts";

type Row = Float64Array<ArrayBuffer>;
type Dot = (a: Row, b: Row) => number;
type Rounding = (x: number) => number;

const f32 = Math.fround;
const half = new Float16Array(1);
const f16: Rounding = (x) => {
  half[0] = x;
  return half[0]!;
};
const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);
const bf16: Rounding = (x) => {
  float[0] = x;
  word[0] = word[0]! + 0x7fff + (word[0]! >>> 16 & 1) & ~0xffff;
  return float[0]!;
};
/** Operands as tensor cores read fp32: the last 13 bits are left out. */
const tf32: Rounding = (x) => {
  float[0] = x;
  word[0]! &= ~0x1fff;
  return float[0]!;
};

/** One accumulator. */
const sum = (round: Rounding): Dot => (a, b) =>
  a.reduce((s, x, k) => round(s + x * b[k]!), 0);
/** Partial sums of 1/16 of K each, which are rounded before fp32 adds them. */
const split = (dot: Dot, round: Rounding = f32): Dot => (a, b) => {
  const width = a.length / 16;
  let s = 0;
  for (let from = 0; from < a.length; from += width) {
    const part = (x: Row) => x.subarray(from, from + width);
    s = f32(s + round(dot(part(a), part(b))));
  }
  return s;
};
const operands = (round: Rounding, dot: Dot): Dot => (a, b) =>
  dot(a.map(round), b.map(round));
/** Operands as sums of `count` bf16 numbers; products of the first ones, least first. */
const parts = (count: number): Dot =>
  split((a, b) => {
    const of = (x: Row) => {
      const list: Row[] = [];
      let rest = x;
      for (let i = 0; i < count; i++) {
        const part = rest.map(bf16);
        list.push(part);
        rest = rest.map((value, k) => value - part[k]!);
      }
      return list;
    };
    const [as, bs] = [of(a), of(b)];
    let s = 0;
    for (let order = count - 1; order >= 0; order--) {
      for (let i = 0; i <= order; i++) {
        for (const [k, x] of as[i]!.entries()) {
          s = f32(s + x * bs[order - i]![k]!);
        }
      }
    }
    return s;
  });

interface Wish {
  readonly dot: Dot;
  readonly type: DType;
  readonly k?: number;
  readonly m?: number;
  readonly n?: number;
  readonly asked?: number;
}

/** An m × n output of `dot`, and what is right. */
function summed({ dot, type, k = 512, m = 32, n = 32 }: Wish) {
  const operand = (tensor: number, count: number) =>
    decode(
      encode(values({ seed: 3, fill: "normal" }, tensor, count * k), type),
      type,
    );
  const [a, b] = [operand(0, m), operand(1, n)];
  const row = (x: Row, i: number) => x.subarray(i * k, (i + 1) * k);
  const each = (of: Dot) =>
    Float64Array.from(
      { length: m * n },
      (_, i) => of(row(a, Math.floor(i / n)), row(b, i % n)),
    );
  const exact: Dot = (a, b) => a.reduce((s, x, i) => s + x * b[i]!, 0);
  const out = {
    name: "C",
    role: "out",
    type,
    rows: m,
    cols: n,
    ld: n,
  } as const;
  const [terms] = termsOf([out], {
    norms: (_, rows, columns) =>
      Float64Array.from(
        rows.flatMap((i) =>
          columns.map((j) =>
            Math.sqrt(
              exact(row(a, i).map((x) => x * x), row(b, j).map((x) => x * x)),
            )
          )
        ),
      ),
  }, 2 * m * n * k);
  return {
    operand: out,
    bytes: encode(each(dot), type),
    right: each(exact),
    terms: terms!,
  };
}

const precision = (wish: Wish) => precisionOf([summed(wish)], wish.asked);

const CASES: readonly (readonly [string, Wish, number, number])[] = [
  // One fp32 accumulator of K terms: 25.8 − ½·log₂ K.
  ["one fp32 accumulator", { dot: sum(f32), type: "f32" }, 21, 21.8],
  [
    "sixteen fp32 accumulators",
    { dot: split(sum(f32)), type: "f32" },
    22.3,
    23.5,
  ],
  ["TF32, truncated", { dot: operands(tf32, sum(f32)), type: "f32" }, 10, 11],
  ["bf16 operands", { dot: operands(bf16, sum(f32)), type: "f32" }, 8, 9.2],
  ["two bf16 parts", { dot: parts(2), type: "f32" }, 17, 19],
  ["three bf16 parts", { dot: parts(3), type: "f32" }, 22, 24],
  ["bf16 results of fp32 sums", { dot: sum(f32), type: "bf16" }, 16, 24],
  [
    "bf16 results of fp16 partial sums",
    { dot: split(sum(f32), f16), type: "bf16" },
    11,
    13,
  ],
  [
    "bf16 results of bf16 partial sums",
    { dot: split(sum(f32), bf16), type: "bf16" },
    8.5,
    10,
  ],
  ["bf16 sums", { dot: sum(bf16), type: "bf16" }, 4, 6.5],
  ["fp16 results of fp32 sums", { dot: sum(f32), type: "f16" }, 18, 24],
  ["fp16 sums", { dot: sum(f16), type: "f16" }, 7, 9.5],
];

for (const [name, wish, from, to] of CASES) {
  Deno.test(`precisionOf() ${name}: from ${from} to ${to} bits`, () => {
    const { bits } = precision(wish);
    assert(bits! >= from && bits! <= to, `${bits}`);
  });
}

Deno.test("precisionOf() names TF32, bf16x2 and partial sums in 16 bits where more is asked", () => {
  const named = (wish: Wish) => precision(wish).wrong ?? "";
  const tf = operands(tf32, sum(f32));
  assertMatch(
    named({ dot: tf, type: "f32", asked: 20.3 }),
    /^looks like TF32: 10\.\d effective bits, and 20\.3 are asked$/,
  );
  assertMatch(
    named({ dot: parts(2), type: "f32", asked: 20.3 }),
    /like bf16x2/,
  );
  for (const [round, name] of [[f16, "fp16"], [bf16, "bf16"]] as const) {
    const dot = split(sum(f32), round);
    const said = named({ dot, type: "bf16", asked: 15 });
    assertMatch(said, new RegExp(`like ${name} partial sums`));
  }
  for (const type of ["f32", "bf16"] as const) {
    const asked = type === "f32" ? 20.3 : 15;
    assertEquals(named({ dot: split(sum(f32)), type, asked }), "");
  }
  assertEquals(named({ dot: tf, type: "f32", asked: 10 }), "");
});

Deno.test("precisionOf() refuses nothing for a few elements", () => {
  const tf = operands(tf32, sum(f32));
  const few = precision({ dot: tf, type: "f32", m: 2, n: 2, asked: 20 });
  assertEquals(few.wrong, undefined);
  assert(few.bits! < 13);
  // One element of 1024 that is far off is no sum of few bits.
  const one = summed({ dot: sum(f32), type: "f32" });
  one.bytes.set(encode([one.right[40]! + 0.1], "f32"), 160);
  assertEquals(precisionOf([one], 20.3).wrong, undefined);
});

Deno.test("precisionOf() sees in exact results what the elements can tell, 24 bits at most", () => {
  const exact = (type: DType, n: number) => {
    const one = summed({ dot: sum(f32), type, k: 64, m: 1, n });
    return precisionOf([{ ...one, bytes: encode(one.right, type) }]).bits!;
  };
  assertEquals(exact("f32", 64), 24);
  // Half of a last place of one element.
  assert(exact("bf16", 4) > 9 && exact("bf16", 4) < 13);
  assert(exact("bf16", 256) - exact("bf16", 4) > 5);
});

Deno.test("precisionOf() is silent without terms, for other types, and where all is 0", () => {
  const one = summed({ dot: sum(f32), type: "f32", k: 64, m: 4, n: 4 });
  assertEquals(precisionOf([{ ...one, terms: undefined }], 20), {});
  const whole = { ...one.operand, type: "i32" } as const;
  assertEquals(precisionOf([{ ...one, operand: whole }], 20), {});
  const none = {
    ...one,
    bytes: new Uint8Array(64),
    right: new Float64Array(16),
  };
  assertEquals(precisionOf([none], 20), {});
});

Deno.test("termsOf() takes at least 256 elements, fewer of a long K, and all of a few", () => {
  const count = (m: number, n: number, k: number) => {
    const out = {
      name: "C",
      role: "out",
      type: "f32",
      rows: m,
      cols: n,
      ld: n,
    } as const;
    let [rows, columns] = [0, 0];
    termsOf([out], {
      norms(_, r, c) {
        [rows, columns] = [r.length, c.length];
        return new Float64Array(rows * columns);
      },
    }, 2 * m * n * k);
    return rows * columns;
  };
  assertEquals(count(4, 5, 8192), 20);
  assertEquals(count(1, 100_000, 32), 4096);
  assertEquals(count(64, 64, 8192), 529);
  assertEquals(count(512, 512, 1 << 20), 256);
});

Deno.test("compareAll() adds to a mismatch what a result looks like, unless few elements are off", () => {
  const one = summed({ dot: operands(tf32, sum(f32)), type: "f32" });
  const tolerance = { rtol: 0, atol: 1e-4 };
  const { wrong, accuracy } = compareAll([one], tolerance, 20.3);
  assertMatch(
    wrong!,
    /^C: \d+ of 1024 elements mismatch.*; C: looks like TF32: 10\.\d/,
  );
  assertEquals(accuracy.bits, Math.round(10 * accuracy.bits!) / 10);
  // A tile of which each element is 5 % too large.
  const narrow = summed({ dot: sum(f32), type: "bf16" });
  const tile = narrow.right.map((x, i) => i < 100 ? 1.05 * x : x);
  const bytes = encode(tile, "bf16");
  const few = compareAll([{ ...narrow, bytes }], { rtol: 0.02, atol: 0.01 }, 15)
    .wrong!;
  assertMatch(few, /mismatch/);
  assert(!few.includes("looks like"), few);
});
