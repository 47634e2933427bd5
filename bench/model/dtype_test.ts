import { deepEqual, equal, ok } from "node:assert/strict";
import { BYTES, decode, type DType, encode, picker, reader } from "./dtype.ts";

/** The one value stored as `code`. */
function value(code: number, type: DType): number {
  const bytes = Uint8Array.of(code & 255, code >> 8).subarray(0, BYTES[type]);
  return decode(bytes, type)[0]!;
}

/** The code that `x` is stored as. */
function code(x: number, type: DType): number {
  return encode([x], type).reduceRight((high, byte) => high << 8 | byte, 0);
}

/** The codes that all of `values` are stored as. */
function codes(values: Iterable<number>, type: DType): ArrayLike<number> {
  const bytes = encode([...values], type);
  return BYTES[type] === 1 ? bytes : new Uint16Array(bytes.buffer);
}

/** All codes of a type, decoded. */
function all(type: DType): ArrayLike<number> {
  const every = Array.from({ length: 256 ** BYTES[type] }, (_, c) => c);
  const bytes = BYTES[type] === 1
    ? Uint8Array.from(every)
    : new Uint8Array(Uint16Array.from(every).buffer);
  return decode(bytes, type);
}

for (const type of ["f16", "bf16", "e4m3", "e5m2", "e8m0", "u8"] as const) {
  Deno.test(`encode() gives back every code of ${type}`, () => {
    const values = Array.from(all(type));
    equal(values.length, 256 ** BYTES[type]);
    const back = codes(values, type);
    equal(back.length, values.length);
    let infinities = 0;
    values.forEach((x, c) => {
      if (Number.isNaN(x)) {
        ok(Number.isNaN(value(back[c]!, type)), `${c}`);
      } else if (type === "e5m2" && Math.abs(x) === Infinity) infinities++;
      else if (back[c] !== c) equal(back[c], c, `${c.toString(16)} is ${x}`);
    });
    // e5m2 saturates instead.
    equal(infinities, type === "e5m2" ? 2 : 0);
  });
}

Deno.test("encode() gives back every byte of e2m1x2", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, c) => c);
  const values = decode(bytes, "e2m1x2");
  equal(values.length, 512);
  deepEqual(encode(values, "e2m1x2"), bytes);
});

// Codes of positive numbers ascend with their values, so the neighbour of one is the next.
for (const type of ["f16", "bf16", "e4m3", "e5m2"] as const) {
  Deno.test(`encode() rounds to nearest even between all codes of ${type}`, () => {
    const top = { f16: 0x7bff, bf16: 0x7f7f, e4m3: 0x7e, e5m2: 0x7b }[type];
    const sign = 1 << 8 * BYTES[type] - 1;
    const values = all(type);
    const middles = Array.from(
      { length: top },
      (_, low) => (values[low]! + values[low + 1]!) / 2,
    );
    // Far below fp32's precision: a detour over fp32 would make ties of these.
    const above = middles.map((x) => x * (1 + 2 ** -40));
    const below = middles.map((x) => x * (1 - 2 ** -40));
    const got = {
      tie: codes(middles, type),
      below: codes(below, type),
      above: codes(above, type),
      negative: codes(above.map((x) => -x), type),
    };
    for (let low = 0; low < top; low++) {
      const want = {
        tie: low % 2 === 0 ? low : low + 1,
        below: low,
        above: low + 1,
        negative: sign | low + 1,
      };
      for (const side of ["tie", "below", "above", "negative"] as const) {
        if (got[side][low] === want[side]) continue;
        equal(got[side][low], want[side], `${side} after ${low.toString(16)}`);
      }
    }
  });
}

Deno.test("encode() rounds e2m1 to nearest even", () => {
  // 0 0.5 1 1.5 2 3 4 6, and the ties between.
  const values = [0, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 5.01, 6, 7];
  const codes = encode(values, "e2m1x2");
  const nibbles = values.map((_, i) => codes[i >> 1]! >> 4 * (i % 2) & 15);
  deepEqual(nibbles, [0, 0, 2, 2, 4, 4, 6, 6, 7, 7, 7]);
});

Deno.test("decode() knows the landmarks of each format", () => {
  const landmarks: [DType, number, number][] = [
    ["f16", 0x3c00, 1],
    ["f16", 0x7bff, 65504],
    ["f16", 0x0001, 2 ** -24],
    ["f16", 0x7c00, Infinity],
    ["bf16", 0x3f80, 1],
    ["bf16", 0x7f7f, 2 ** 127 * (2 - 2 ** -7)],
    ["bf16", 0x0001, 2 ** -133],
    ["bf16", 0xff80, -Infinity],
    // OFP8, table 2: largest, smallest normal, largest and smallest subnormal.
    ["e4m3", 0x7e, 448],
    ["e4m3", 0x08, 2 ** -6],
    ["e4m3", 0x07, 0.875 * 2 ** -6],
    ["e4m3", 0x01, 2 ** -9],
    ["e4m3", 0x7f, NaN],
    ["e4m3", 0xff, NaN],
    ["e5m2", 0x7b, 57344],
    ["e5m2", 0x04, 2 ** -14],
    ["e5m2", 0x03, 0.75 * 2 ** -14],
    ["e5m2", 0x01, 2 ** -16],
    ["e5m2", 0x7c, Infinity],
    ["e5m2", 0xfc, -Infinity],
    ["e5m2", 0x7d, NaN],
    // MX: a scale is a power of two with bias 127, 255 is NaN.
    ["e8m0", 0x00, 2 ** -127],
    ["e8m0", 0x7f, 1],
    ["e8m0", 0xfe, 2 ** 127],
    ["e8m0", 0xff, NaN],
  ];
  for (const [type, c, x] of landmarks) {
    equal(value(c, type), x, `${type} ${c.toString(16)}`);
  }
});

Deno.test("decode() gives both halves of an e2m1x2 byte, the low one first", () => {
  deepEqual([...decode(Uint8Array.of(0x71, 0xf9), "e2m1x2")], [
    0.5,
    6,
    -0.5,
    -6,
  ]);
});

Deno.test("reader() gives the values of decode() one by one", () => {
  const bytes = Uint8Array.from({ length: 33 }, (_, i) => 37 * i).subarray(1);
  for (const type of Object.keys(BYTES) as DType[]) {
    const read = reader(bytes, type);
    const values = decode(bytes, type);
    deepEqual(Array.from(values, (_, i) => read(i)), [...values], type);
  }
});

Deno.test("picker() gives some of the values of decode(), wherever the bytes start", () => {
  const all = Uint8Array.from({ length: 64 }, (_, i) => 37 * i);
  for (const type of Object.keys(BYTES) as DType[]) {
    for (const start of [0, 1, 2, 8]) {
      const bytes = all.subarray(start, start + 48);
      const values = decode(bytes, type);
      const pick = picker(bytes, type);
      deepEqual(
        [...pick({ first: 1, step: 2, count: 2 })],
        [values[1]!, values[3]!],
        type,
      );
      deepEqual([...pick({ first: 2, step: 1, count: 0 })], []);
    }
  }
});

Deno.test("encode() overflows to infinity, or saturates, as the format says", () => {
  const cases: [DType, number, number][] = [
    ["f32", 3.4028235677973366e38, Infinity],
    ["f16", 65519.99, 65504],
    ["f16", 65520, Infinity],
    // The tie between the largest bf16 and what would follow it.
    ["bf16", 2 ** 127 * (2 - 2 ** -8), Infinity],
    ["bf16", 2 ** 127 * (2 - 2 ** -8 - 2 ** -40), 2 ** 127 * (2 - 2 ** -7)],
    ["bf16", 1e300, Infinity],
    ["e4m3", 1e9, 448],
    ["e4m3", -Infinity, -448],
    ["e5m2", Infinity, 57344],
    ["e5m2", -60000, -57344],
    ["e8m0", 2 ** 200, 2 ** 127],
    ["e8m0", 0, 2 ** -127],
  ];
  for (const [type, x, want] of cases) {
    equal(decode(encode([x], type), type)[0], want, `${x} as ${type}`);
  }
});

Deno.test("encode() rounds bf16 once, not by way of fp32", () => {
  // Just over the tie 1 + 2^-8; fp32 would round it to the tie, and that to 1.
  equal(code(1 + 2 ** -8 + 2 ** -40, "bf16"), 0x3f81);
  // Just under the tie 1 + 3·2^-8; fp32 would round it to the tie, and that up.
  equal(code(1 + 3 * 2 ** -8 - 2 ** -40, "bf16"), 0x3f81);
  equal(code(-1 - 2 ** -8 - 2 ** -40, "bf16"), 0xbf81);
  equal(code(2 ** -134 + 2 ** -180, "bf16"), 0x0001);
  equal(code(2 ** -134, "bf16"), 0x0000);
});

Deno.test("encode() rounds f16 once, not by way of fp32", () => {
  equal(code(1 + 2 ** -11 + 2 ** -40, "f16"), 0x3c01);
  equal(code(1 + 3 * 2 ** -11 - 2 ** -40, "f16"), 0x3c01);
});

Deno.test("encode() keeps zero's sign", () => {
  for (const type of ["f32", "f16", "bf16", "e4m3", "e5m2"] as const) {
    ok(Object.is(decode(encode([-0], type), type)[0], -0), type);
  }
});

Deno.test("encode() makes negative scales NaN", () => {
  equal(code(-1, "e8m0"), 255);
  equal(code(NaN, "e8m0"), 255);
  equal(code(Infinity, "e8m0"), 255);
});

Deno.test("decode() reads bytes that start anywhere in their buffer", () => {
  const bytes = new Uint8Array(9);
  bytes.set(encode([1, -2], "f32"), 1);
  deepEqual([...decode(bytes.subarray(1), "f32")], [1, -2]);
});

Deno.test("encode() has one code for NaN, whatever its sign and payload", () => {
  const nans = new Float64Array(
    BigUint64Array.of(0xfff8n << 48n, 0x7ff0_dead_beef_0001n).buffer,
  );
  for (const [type, c] of [["f16", 0x7e00], ["bf16", 0x7fc0]] as const) {
    const codes = new Uint16Array(encode(nans, type).buffer);
    deepEqual([...codes], [c, c], type);
  }
});
