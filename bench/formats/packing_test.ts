import { assertEquals } from "@std/assert";
import { packBits, unpackBits } from "./quantise.ts";
import { packNibbles, unpackNibbles } from "./minifloat.ts";

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

Deno.test("packNibbles() is packBits() of 4 bits, and unpackNibbles() its inverse", () => {
  const every = Uint8Array.from({ length: 512 }, (_, i) => i >> i % 2 * 4 & 15);
  assertEquals(packNibbles(every), packBits(every, 4));
  assertEquals(unpackNibbles(packNibbles(every)), every);
  assertEquals([...packNibbles([1, 2, 3])], [0x21, 0x03]);
});
