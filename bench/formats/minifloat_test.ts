import { assert, assertEquals } from "@std/assert";
import {
  type Codec,
  e2m1,
  e4m3,
  e5m2,
  E8M0_VALUES,
  encodeE8m0,
  packBits,
  unpackBits,
} from "./minifloat.ts";

const CODECS: Readonly<Record<string, Codec>> = { e2m1, e4m3, e5m2 };

for (const [name, { values, encode }] of Object.entries(CODECS)) {
  Deno.test(`${name} gives back every code`, () => {
    const sign = values.length / 2;
    values.forEach((x, code) => {
      if (Number.isNaN(x)) {
        assert(Number.isNaN(values[encode(x)]!), `${code}`);
        assert(encode(x) < sign, "NaN has no sign");
      } else if (Number.isFinite(x)) assertEquals(encode(x), code, `${x}`);
      else {
        assertEquals(
          values[encode(x)],
          Math.sign(x) * e5m2.values[0x7b]!,
          "saturates",
        );
      }
    });
  });

  Deno.test(`${name} rounds to nearest even between all codes`, () => {
    const top = values.findIndex((x, i) => !(values[i + 1]! > x));
    for (let low = 0; low < top; low++) {
      if (!Number.isFinite(values[low + 1]!)) break;
      const middle = (values[low]! + values[low + 1]!) / 2;
      assertEquals(encode(middle), low % 2 ? low + 1 : low, `tie over ${low}`);
      assertEquals(
        encode(middle * (1 - 2 ** -52)),
        low,
        `under the tie over ${low}`,
      );
      assertEquals(
        encode(middle * (1 + 2 ** -52)),
        low + 1,
        `over that over ${low}`,
      );
      assertEquals(
        encode(-middle * (1 + 2 ** -52)),
        values.length / 2 | low + 1,
      );
    }
  });
}

Deno.test("e2m1 has the values of OCP MX 1.0, 5.3.3", () => {
  assertEquals([...e2m1.values], [
    ...[0, 0.5, 1, 1.5, 2, 3, 4, 6],
    ...[-0, -0.5, -1, -1.5, -2, -3, -4, -6],
  ]);
});

Deno.test("e2m1 rounds at the thresholds that MLX writes out", () => {
  const cases: [number, number][] = [
    [0.25, 0],
    [0.26, 1],
    [0.74, 1],
    [0.75, 2],
    [1.25, 2],
    [1.26, 3],
    [1.74, 3],
    [1.75, 4],
    [2.5, 4],
    [2.51, 5],
    [3.49, 5],
    [3.5, 6],
    [5, 6],
    [5.01, 7],
    [1e30, 7],
    [NaN, 7],
  ];
  for (const [x, code] of cases) assertEquals(e2m1.encode(x), code, `${x}`);
  assertEquals(e2m1.encode(-Infinity), 15);
});

Deno.test("e4m3 and e5m2 have the landmarks of OFP8 1.0, table 1", () => {
  assertEquals([0x7e, 0x08, 0x07, 0x01].map((c) => e4m3.values[c]), [
    448,
    2 ** -6,
    0.875 * 2 ** -6,
    2 ** -9,
  ]);
  assertEquals([0x7b, 0x7c, 0x04, 0x03, 0x01].map((c) => e5m2.values[c]), [
    57344,
    Infinity,
    2 ** -14,
    0.75 * 2 ** -14,
    2 ** -16,
  ]);
  assertEquals(e4m3.values.filter(Number.isNaN).length, 2);
  assertEquals(e5m2.values.filter(Number.isNaN).length, 6);
});

Deno.test("e2m1 times e4m3 is exact in f16 and in bf16, by enumeration", () => {
  const magnitudes = new Set<number>();
  for (const x of e2m1.values) {
    for (const s of e4m3.values) {
      if (Number.isNaN(s)) continue;
      const product = x * s;
      magnitudes.add(Math.abs(product));
      assertEquals(new Float16Array([product])[0], product, `${x} times ${s}`);
      // The upper half of fp32, which is bf16, has all bits of it.
      const [bits] = new Uint32Array(new Float32Array([product]).buffer);
      assertEquals(bits! & 0xffff, 0, `${x} times ${s}`);
    }
  }
  magnitudes.delete(0);
  const all = [...magnitudes].toSorted((a, b) => a - b);
  assertEquals([all.length, all[0], all.at(-1)], [237, 2 ** -10, 2688]);
  const bitsOf = (x: number) => {
    let odd = x * 2 ** 10;
    while (odd % 2 === 0) odd /= 2;
    return odd.toString(2).length;
  };
  assertEquals(Math.max(...all.map(bitsOf)), 6);
});

Deno.test("e2m1 and e4m3 under a power of two are exact in f16 and bf16 in these ranges", () => {
  const bf16 = (x: number) => {
    const [bits] = new Uint32Array(new Float32Array([x]).buffer);
    return Math.fround(x) === x && (bits! & 0xffff) === 0 ? x : NaN;
  };
  const f16 = (x: number) => new Float16Array([x])[0]!;
  const range = ({ values }: Codec, round: (x: number) => number) => {
    const exact = Array.from({ length: 255 }, (_, i) => i - 127)
      .filter((e) =>
        values.every((x) => x !== x || round(x * 2 ** e) === x * 2 ** e)
      );
    assertEquals(exact.length, exact.at(-1)! - exact[0]! + 1, "no gaps");
    return [exact[0], exact.at(-1)];
  };
  assertEquals([range(e2m1, f16), range(e4m3, f16)], [[-23, 13], [-15, 7]]);
  assertEquals([range(e2m1, bf16), range(e4m3, bf16)], [[-127, 125], [
    -124,
    119,
  ]]);
});

Deno.test("encodeE8m0() gives back every code", () => {
  E8M0_VALUES.forEach((x, code) => assertEquals(encodeE8m0(x), code, `${x}`));
});

Deno.test("encodeE8m0() has NaN for what is no scale, 2^-127 for the least", () => {
  for (const x of [NaN, Infinity, -Infinity, -1, -(2 ** -1074)]) {
    assertEquals(encodeE8m0(x), 255, `${x}`);
  }
  for (const x of [0, -0, 2 ** -1074, 2 ** -149, 2 ** -128]) {
    assertEquals(encodeE8m0(x), 0, `${x}`);
  }
  assertEquals(encodeE8m0(Number.MAX_VALUE), 254);
});

Deno.test("encodeE8m0() turns at √2 times a power of two, exactly", () => {
  // The doubles around √2: 0x3ff6a09e667f3bcc is below it, the next above.
  const [below, above] = [1.414213562373095, 1.4142135623730951];
  for (let e = -126; e < 127; e++) {
    assertEquals(encodeE8m0(below * 2 ** e), e + 127, `under √2 · 2^${e}`);
    assertEquals(encodeE8m0(above * 2 ** e), e + 128, `over √2 · 2^${e}`);
  }
  // As MLX, unlike OCP and cuBLAS: amax 448 · 1.4 takes a scale that saturates it.
  assertEquals(encodeE8m0(1.4), 127);
});

const codesOf = (bits: number, count: number) =>
  Uint8Array.from({ length: count }, (_, i) => i * 37 + 11 & (1 << bits) - 1);

for (const bits of [2, 3, 4, 5, 6, 8]) {
  Deno.test(`packBits() of ${bits} bits is one LSB-first integer`, () => {
    const codes = codesOf(bits, 64);
    let stream = 0n;
    codes.forEach((code, i) => stream |= BigInt(code) << BigInt(bits * i));
    const bytes = packBits(codes, bits);
    assertEquals(bytes.length, 8 * bits);
    bytes.forEach((byte, i) =>
      assertEquals(byte, Number(stream >> BigInt(8 * i) & 0xffn), `byte ${i}`)
    );
    assertEquals(unpackBits(bytes, bits, 64), codes);
  });

  Deno.test(`unpackBits() finds each code of ${bits} bits at each place`, () => {
    for (let at = 0; at < 32; at++) {
      for (let code = 0; code < 1 << bits; code++) {
        const codes = new Uint8Array(32).fill((1 << bits) - 1 - code);
        codes[at] = code;
        assertEquals(unpackBits(packBits(codes, bits), bits, 32), codes);
      }
    }
  });
}

Deno.test("packBits() of 3, 5 and 6 bits packs as MLX's packs do", () => {
  // mlx/backend/cpu/quantized.cpp, extract_bits: 8 codes in 3 bytes, 8 in 5, 4 in 3.
  const [b0, b1, b2] = packBits([1, 2, 3, 4, 5, 6, 7, 0], 3);
  assertEquals([
    b0! & 7,
    b0! >> 3 & 7,
    (b0! & 0xc0) >> 6 | (b1! & 1) << 2,
    (b1! & 0xe) >> 1,
    (b1! & 0x70) >> 4,
    (b1! & 0x80) >> 7 | (b2! & 3) << 1,
    (b2! & 0x1c) >> 2,
    (b2! & 0xe0) >> 5,
  ], [1, 2, 3, 4, 5, 6, 7, 0]);
  const six = packBits([1, 34, 51, 62], 6);
  assertEquals([
    six[0]! & 63,
    six[0]! >> 6 & 3 | (six[1]! & 15) << 2,
    six[1]! >> 4 & 15 | (six[2]! & 3) << 4,
    six[2]! >> 2 & 63,
  ], [1, 34, 51, 62]);
});

Deno.test("packBits() fills up the last byte with zeros", () => {
  assertEquals([...packBits([7, 7, 7], 3)], [0xff, 0x01]);
  assertEquals([...unpackBits(Uint8Array.of(0xff, 0x01), 3, 3)], [7, 7, 7]);
});
