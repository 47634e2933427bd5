import { deepEqual, equal } from "node:assert/strict";
import {
  E8M0_NAN,
  E8M0_VALUES,
  encodeE8m0,
  encodeE8m0Down,
  encodeE8m0Up,
} from "./e8m0.ts";

const ENCODERS = { encodeE8m0, encodeE8m0Up, encodeE8m0Down };

for (const [name, encode] of Object.entries(ENCODERS)) {
  Deno.test(`${name}() gives back every code`, () => {
    E8M0_VALUES.forEach((x, code) => equal(encode(x), code, `${x}`));
  });

  Deno.test(`${name}() has NaN for what is no scale, 2^-127 for the least`, () => {
    for (const x of [NaN, Infinity, -Infinity, -1, -(2 ** -1074)]) {
      equal(encode(x), E8M0_NAN, `${x}`);
    }
    for (const x of [0, -0, 2 ** -1074, 2 ** -149, 2 ** -128]) {
      equal(encode(x), 0, `${x}`);
    }
    equal(encode(Number.MAX_VALUE), 254);
  });
}

Deno.test("encodeE8m0() turns at √2 times a power of two, exactly", () => {
  // The doubles around √2: 0x3ff6a09e667f3bcc is below it, the next above.
  const [below, above] = [1.414213562373095, 1.4142135623730951];
  for (let e = -126; e < 127; e++) {
    equal(encodeE8m0(below * 2 ** e), e + 127, `under √2 · 2^${e}`);
    equal(encodeE8m0(above * 2 ** e), e + 128, `over √2 · 2^${e}`);
  }
  // As MLX, unlike OCP and cuBLAS: amax 448 · 1.4 takes a scale that saturates it.
  equal(encodeE8m0(1.4), 127);
});

Deno.test("encodeE8m0Up() never makes a scale smaller, encodeE8m0Down() never larger", () => {
  const next = 1 + 2 ** -52;
  for (let e = -127; e < 127; e++) {
    deepEqual(
      [1, next, 1.5, 2 - 2 ** -52].map((x) => encodeE8m0Up(x * 2 ** e)),
      [e + 127, e + 128, e + 128, e + 128],
    );
    equal(encodeE8m0Down((2 - 2 ** -52) * 2 ** e), e + 127);
  }
  equal(encodeE8m0Up(2 ** 127 * next), 254);
});
