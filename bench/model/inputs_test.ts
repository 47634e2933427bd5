import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { cpu } from "../../backends/cpu/cpu.ts";
import { i32, mem } from "../device/queue.ts";
import { decode } from "./dtype.ts";
import { CaseError } from "./errors.ts";
import {
  FILLS,
  mix,
  remembered,
  stored,
  storedPart,
  values,
} from "./inputs.ts";

/** The generator again, from its description, in another language. */
const IN_C = `
  #include <stdint.h>
  static uint32_t mix(uint32_t x) {
    x ^= x >> 16; x *= 0x7feb352dU;
    x ^= x >> 15; x *= 0x846ca68bU;
    return x ^ (x >> 16);
  }
  void hash(uint32_t *out, int count) {
    for (int i = 0; i < count; i++) out[i] = mix((uint32_t)i * 0x9e3779b9U);
  }
  void fill(double *out, int count, uint32_t seed, uint32_t tensor, int fill) {
    uint32_t key = mix(mix(seed) + (tensor + 1) * 0x9e3779b9U);
    for (int i = 0; i < count; i++) {
      uint32_t h = mix((uint32_t)i ^ key);
      if (fill == 0) {
        int32_t sum = 0;
        for (int j = 0; j < 6; j++) {
          sum += (int32_t)((h & 0xffff) + (h >> 16));
          h = mix(h + 0x9e3779b9U);
        }
        out[i] = (double)(sum - 393210) / 65536.0;
      } else if (fill == 1) out[i] = (double)((int32_t)(h >> 11) - 1048576) / 1048576.0;
      else out[i] = (double)(int32_t)(h % 9) - 4.0;
    }
  }`;

const arch = Deno.build.arch;
const hasCompiler = (() => {
  try {
    cpu.compiler(arch);
    return true;
  } catch (error) {
    if (error instanceof CaseError) return false;
    throw error;
  }
})();

const NORMAL = values({ seed: 0, fill: "normal" }, 0, 1 << 17);

Deno.test(
  `values() and mix() give the bits that C gives${
    hasCompiler ? "" : " (ignored: no C compiler)"
  }`,
  { ignore: !hasCompiler },
  async () => {
    const folder = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(`${folder}/hash.c`, IN_C);
      const source = pathToFileURL(`${folder}/hash.c`);
      const binary = `${folder}/hash.so`;
      await cpu.compiler(arch).compile({ source, defines: {} }, binary);
      using device = cpu.open(cpu.find().devices[0]!);
      using module = device.load(binary);
      const ONE = { grid: [1, 1, 1], block: [1, 1, 1] } as const;
      const count = 5000;
      using out = device.alloc(8 * count);
      module.program("hash").step([mem(out), i32(count)], ONE).enqueue();
      deepEqual(
        new Uint32Array(out.download().buffer).subarray(0, count),
        Uint32Array.from(
          { length: count },
          (_, i) => mix(Math.imul(i, 0x9e3779b9)),
        ),
      );
      for (const [number, fill] of FILLS.entries()) {
        for (const seed of [0, 1, 4294967295]) {
          for (const tensor of [0, 2]) {
            module.program("fill").step([
              mem(out),
              i32(count),
              { kind: "u32", value: seed },
              { kind: "u32", value: tensor },
              i32(number),
            ], ONE).enqueue();
            deepEqual(
              new Float64Array(out.download().buffer),
              values({ seed, fill }, tensor, count),
              `${fill} ${seed} ${tensor}`,
            );
          }
        }
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

Deno.test("mix() is a bijection of small words and keeps 0", () => {
  equal(mix(0), 0);
  const seen = new Set(Array.from({ length: 1 << 16 }, (_, i) => mix(i)));
  equal(seen.size, 1 << 16);
});

Deno.test("values() of normal have mean 0, variance 1 and end at 6", () => {
  const n = NORMAL.length;
  const mean = NORMAL.reduce((s, x) => s + x) / n;
  const variance = NORMAL.reduce((s, x) => s + (x - mean) ** 2, 0) / n;
  // Five standard errors.
  ok(Math.abs(mean) < 5 / Math.sqrt(n), `${mean}`);
  ok(Math.abs(variance - 1) < 5 * Math.sqrt(2 / n), `${variance}`);
  ok(NORMAL.every((x) => Math.abs(x) < 6));
  // A normal has 0.27 % beyond 3; this sum a little less.
  const tail = NORMAL.filter((x) => Math.abs(x) > 3).length / n;
  ok(tail > 0.0015 && tail < 0.0035, `${tail}`);
});

Deno.test("values() of normal do not repeat between neighbours or tensors", () => {
  const other = values({ seed: 0, fill: "normal" }, 1, NORMAL.length);
  const n = NORMAL.length;
  const product = (f: (i: number) => number) =>
    Array.from({ length: n }, (_, i) => NORMAL[i]! * f(i))
      .reduce((s, x) => s + x) / n;
  ok(Math.abs(product((i) => NORMAL[(i + 1) % n]!)) < 5 / Math.sqrt(n));
  ok(Math.abs(product((i) => other[i]!)) < 5 / Math.sqrt(n));
});

Deno.test("values() are exact in fp32, and most of normal's are not in TF32", () => {
  for (const fill of FILLS) {
    for (const x of values({ seed: 1, fill }, 0, 4096)) {
      equal(Math.fround(x), x);
      ok(Number.isInteger(x * 2 ** 20) && Math.abs(x) < 8);
    }
  }
  // TF32 has fp32's exponent and 10 bits after the point.
  const bits = new Uint32Array(Float32Array.from(NORMAL).buffer);
  const inexact = bits.filter((b) => (b & 0x1fff) !== 0).length;
  ok(inexact > 0.9 * NORMAL.length, `${inexact} of ${NORMAL.length}`);
});

Deno.test("values() of uniform fill [-1, 1), those of integers -4 to 4", () => {
  const uniform = values({ seed: 0, fill: "uniform" }, 0, 1 << 14);
  ok(uniform.every((x) => x >= -1 && x < 1));
  ok(Math.abs(uniform.reduce((s, x) => s + x) / uniform.length) < 0.03);
  const integers = values({ seed: 0, fill: "integers" }, 0, 1 << 14);
  deepEqual([...new Set(integers)].sort((a, b) => a - b), [
    ...[-4, -3, -2, -1],
    ...[0, 1, 2, 3, 4],
  ]);
});

Deno.test("values() depend on seed and tensor, not on their count", () => {
  const few = values({ seed: 7, fill: "normal" }, 2, 10);
  const more = values({ seed: 7, fill: "normal" }, 2, 100);
  deepEqual(few, more.slice(0, 10));
  notEqual(few[0], values({ seed: 8, fill: "normal" }, 2, 1)[0]);
  notEqual(few[0], values({ seed: 7, fill: "normal" }, 3, 1)[0]);
});

Deno.test("stored() rounds the values to the type", () => {
  const bytes = stored({ seed: 0, fill: "normal" }, 0, {
    count: 100,
    type: "bf16",
  });
  equal(bytes.length, 200);
  decode(bytes, "bf16").forEach((x, i) =>
    ok(Math.abs(x - NORMAL[i]!) <= 2 ** -8 * Math.abs(NORMAL[i]!))
  );
});

Deno.test("values() from an element on are the end of all of them", () => {
  for (const fill of FILLS) {
    const options = { seed: 3, fill };
    deepEqual(
      values(options, 1, 20, 80),
      values(options, 1, 100).subarray(80),
    );
  }
});

Deno.test("remembered() makes the same again only after something else", () => {
  let made = 0;
  const take = (k: number, part = "B", op = "of a test") =>
    remembered({ op, part, of: { k } }, () => [++made]);
  const first = take(1);
  deepEqual(take(1, "A"), [2]);
  equal(take(1), first);
  deepEqual(take(2), [3]);
  deepEqual(take(1), [4]);
  deepEqual(take(1, "B", "another"), [5]);
  deepEqual(take(1), [6]);
});

Deno.test("stored() multiplies by the unit before it rounds", () => {
  const options = { seed: 0, fill: "normal" } as const;
  const wanted = { count: 64, type: "bf16", unit: 0.3 } as const;
  const own = decode(stored(options, 0, wanted), "bf16");
  values(options, 0, 64).forEach((x, i) =>
    ok(Math.abs(own[i]! - 0.3 * x) <= 2 ** -8 * Math.abs(0.3 * x))
  );
});

Deno.test("stored() gives the same in chunks as values() at once", () => {
  const options = { seed: 5, fill: "normal" } as const;
  const count = (1 << 16) + 3;
  const bytes = stored(options, 1, { count, type: "f32" });
  deepEqual(decode(bytes, "f32"), values(options, 1, count));
});

Deno.test("storedPart() gives the same as stored(), whatever was wanted before", () => {
  const part = { op: "of stored values", part: "A" };
  const options = { seed: 5, fill: "normal" } as const;
  // The last one of more than is kept for another.
  for (const count of [100, 40, 70_000, 70_000, 99, (1 << 23) + 1, 7]) {
    for (const unit of [1, 0.5]) {
      const wanted = { count, type: "f32", unit } as const;
      const made = storedPart(part, options, 1, wanted);
      equal(made.length, 4 * count);
      if (count < 1 << 20) deepEqual(made, stored(options, 1, wanted));
      else deepEqual(made.slice(-4), stored(options, 1, wanted).slice(-4));
    }
  }
  const other = { ...options, seed: 6 };
  const wanted = { count: 7, type: "f32" } as const;
  deepEqual(storedPart(part, other, 1, wanted), stored(other, 1, wanted));
});

Deno.test("storedPart() makes only what is not made yet", () => {
  const part = { op: "of stored values", part: "B" };
  const options = { seed: 5, fill: "normal" } as const;
  const take = (count: number) =>
    storedPart(part, options, 1, { count, type: "bf16" });
  const long = take(1000);
  equal(take(10).buffer, long.buffer);
  // A mark that a generator would not make.
  long.fill(0xff, 0, 2);
  deepEqual([...take(2000).subarray(0, 2)], [0xff, 0xff]);
});
