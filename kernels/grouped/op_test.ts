import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  blockedOffset,
  type ScaleShape,
} from "../../bench/formats/blocked_scales.ts";
import { e2m1, e4m3 } from "../../bench/formats/minifloat.ts";
import { decode } from "../../bench/model/dtype.ts";
import { UserError } from "../../bench/model/errors.ts";
import type { Values } from "../../bench/model/grid.ts";
import { Bench, hasCompiler, skip } from "../testdata/cpu.ts";
import { cpuKernels } from "./cpu/cpu.ts";
import { groupedMatmul } from "./op.ts";
import { BENCH_LISTS, type GroupedPoint, TEST_LISTS } from "./point.ts";

/** Bytes and flops a second of a B200 at 1.5 GHz, as the competition counts them. */
const B200 = { bytes: 7.68e12, flops: 6.9e15 };

/**
 * The competition's speed of light in µs: the larger of the time to move all operands once
 * and of the time of the flops. On other devices a row's `sol_us` says the same from what was
 * measured there.
 */
function b200SpeedOfLight(point: GroupedPoint): number {
  const { flops, bytes } = groupedMatmul.work(point);
  return 1e6 * Math.max(bytes / B200.bytes, flops / B200.flops);
}

const INPUTS = { seed: 1111, fill: "normal" } as const;

/** Returns the row-major scales in `blocked`, without its padding. */
function fromBlocked(blocked: Uint8Array, { rows, cols }: ScaleShape) {
  return Uint8Array.from(
    { length: rows * cols },
    (_, i) => blocked[blockedOffset(Math.floor(i / cols), i % cols, cols)]!,
  );
}

Deno.test("groupedMatmul.point() reads lists, one number for all, and empty problems", () => {
  const { problems } = groupedMatmul.point({
    m: "80+0+3",
    n: "8+16+24",
    k: 64,
  });
  assertEquals(problems, [
    { m: 80, n: 8, k: 64 },
    { m: 0, n: 16, k: 64 },
    { m: 3, n: 24, k: 64 },
  ]);
});

Deno.test("groupedMatmul.point() refuses what is off, naming a way out", () => {
  const refused: [Values, RegExp][] = [
    [{ m: "1+2", n: "8+8+8", k: 64 }, /^Lists of 2, 3, 1 numbers for m, n, k/],
    [
      { m: "1+x", n: 8, k: 64 },
      /^m is 1\+x: give whole numbers, as in --axis m=80/,
    ],
    [{ m: 1, n: 0, k: 64 }, /^n is 0: give whole numbers of at least 1/],
    [{ m: "0+0", n: 8, k: 64 }, /^m is 0 in every problem/],
    [{ m: 1, n: 8, k: 24 }, /^k is 24: NVFP4 has a scale for 16 elements/],
    [
      { m: 1, n: 8, k: 64, layout: "nn" },
      /^layout is nn: give one of nt, nt-mmajor/,
    ],
    [
      { m: Array(1025).fill(1).join("+"), n: 8, k: 64 },
      /^1025 problems in one/,
    ],
  ];
  for (const [values, message] of refused) {
    const error = assertThrows(() => groupedMatmul.point(values), UserError);
    assertMatch(error.message, message);
  }
});

Deno.test("groupedMatmul.operands() leave out empty problems, and keep their numbers", () => {
  const point = groupedMatmul.point({
    m: "2+0+130",
    n: 40,
    k: 96,
    layout: "nt-mmajor",
  });
  assertEquals(
    groupedMatmul.operands(point).map((
      { name, rows, cols },
    ) => [name, rows, cols]),
    [
      ...[["A0", 2, 48], ["SFA0", 2, 512], ["B0", 40, 48], ["SFB0", 2, 512], [
        "C0",
        40,
        2,
      ]],
      ...[["A2", 130, 48], ["SFA2", 4, 512], ["B2", 40, 48], ["SFB2", 2, 512], [
        "C2",
        40,
        130,
      ]],
    ],
  );
});

Deno.test("groupedMatmul.key() has sums and maxima as sizes, the lists as parameters", () => {
  const { m, n, k, params } = groupedMatmul.key(
    groupedMatmul.point({ m: "96+128", n: "128+256", k: 512 }),
  );
  assertEquals([m, n, k], [224, 256, 512]);
  assertStrictEquals(params, "groups=2 m=96+128 n=128+256 k=512");
});

Deno.test("groupedMatmul.inputs() are the competition's: four magnitudes, scales 1 and 2", () => {
  const point = groupedMatmul.point({ m: 130, n: 8, k: 160 });
  const [a, sfa] = groupedMatmul.inputs(point, INPUTS);
  const seen = new Set(decode(a!, "e2m1x2").map(Math.abs));
  assertEquals([...seen].sort(), [0, 0.5, 1, 1.5]);
  const scales = fromBlocked(sfa!, { rows: 130, cols: 10 });
  assertEquals([...new Set(scales)].map((c) => e4m3.values[c]).sort(), [
    1,
    2,
  ]);
  // What is left of the tiles is 0.
  assertStrictEquals(sfa!.filter((code) => code !== 0).length, 130 * 10);
});

Deno.test("groupedMatmul.inputs() of another fill have all codes and all mantissas", () => {
  const point = groupedMatmul.point({ m: 64, n: 64, k: 256 });
  const [a, sfa] = groupedMatmul.inputs(point, { ...INPUTS, fill: "uniform" });
  const nibbles = new Set([...a!].flatMap((byte) => [byte & 15, byte >> 4]));
  assertStrictEquals(nibbles.size, 16);
  const scales = fromBlocked(sfa!, { rows: 64, cols: 16 });
  assertStrictEquals(new Set(scales.map((code) => code & 7)).size, 8);
  const values = [...scales].map((code) => e4m3.values[code]!);
  assertStrictEquals(Math.min(...values), 0.5);
  assertStrictEquals(Math.max(...values), 3.75);
});

Deno.test("groupedMatmul.reference() of M-major is the transpose", () => {
  const [rows, columns] = ["nt", "nt-mmajor"].map((layout) => {
    const point = groupedMatmul.point({ m: 3, n: 5, k: 32, layout });
    return groupedMatmul.reference(point, groupedMatmul.inputs(point, INPUTS))
      .all(0);
  });
  rows!.forEach((x, i) =>
    assertStrictEquals(columns![i % 5 * 3 + Math.floor(i / 5)], x)
  );
});

Deno.test("groupedMatmul.work() gives the competition's speed of light on a B200", () => {
  for (const { m, n, k, sol_us } of BENCH_LISTS) {
    const point = groupedMatmul.point({ m: m.join("+"), n, k });
    assert(
      Math.abs(b200SpeedOfLight(point) - sol_us) < 1e-3,
      `${b200SpeedOfLight(point)}`,
    );
    assertStrictEquals(groupedMatmul.work(point).type, "f16");
  }
});

Deno.test("groupedMatmul.edgeCases begin with the competition's ten test lists", () => {
  const params = groupedMatmul.edgeCases.map((p) =>
    groupedMatmul.key(p).params
  );
  TEST_LISTS.forEach(([m], i) => {
    const all = new Set(m.split("+")).size === 1;
    assertMatch(
      params[i]!,
      new RegExp(`m=${(all ? m.split("+")[0]! : m).replaceAll("+", "\\+")}`),
    );
  });
  assertStrictEquals(new Set(params).size, params.length);
});

Deno.test("E2M1 times E4M3 is exact in fp16 as nvfp4.cuh makes it, by enumeration", () => {
  const scratch = new DataView(new ArrayBuffer(2));
  for (let code = 0; code < 16; code++) {
    // The bits of a code under fp16's exponent: its value x 2^-14.
    scratch.setUint16(0, (code & 8) << 12 | (code & 7) << 9);
    const moved = scratch.getFloat16(0);
    assertStrictEquals(moved, e2m1.values[code]! * 2 ** -14);
    for (const scale of e4m3.values) {
      const shifted = scale * 2 ** 7;
      if (Number.isNaN(scale)) {
        assert(Number.isNaN(Math.f16round(moved * shifted)));
        continue;
      }
      assertStrictEquals(Math.f16round(shifted), shifted);
      // One rounded multiplication of two fp16 numbers.
      assertStrictEquals(
        Math.f16round(moved * shifted),
        e2m1.values[code]! * scale * 2 ** -7,
      );
    }
  }
});

const [naive, grouped] = cpuKernels as [
  typeof cpuKernels[number],
  typeof cpuKernels[number],
];
const NORMAL = { seed: 3, fill: "normal" } as const;
const UNIFORM = { seed: 3, fill: "uniform" } as const;

Deno.test(
  `grouped has the reference's bits for the competition's inputs${skip}`,
  {
    ignore: !hasCompiler,
  },
  async () => {
    const point = groupedMatmul.point({ m: "17+33", n: 40, k: 1600 });
    const config = { ROWS: 16 };
    using bench = new Bench(groupedMatmul);
    const [fast, plain] = await Promise.all(
      [grouped, naive].map((kernel) =>
        bench.run(kernel, { point, config, options: NORMAL })
      ),
    );
    // Partial sums are multiples of 1/4 below 2^22: fp32 rounds none.
    assertEquals(fast, plain);
  },
);

Deno.test(
  `grouped gives NaN where a scale is NaN, 0 where all are 0${skip}`,
  {
    ignore: !hasCompiler,
  },
  async () => {
    const point = groupedMatmul.point({ m: 4, n: 8, k: 64 });
    for (const kernel of cpuKernels) {
      using bench = new Bench(groupedMatmul);
      const [c] = await bench.run(kernel, {
        point,
        config: { ROWS: 4 },
        options: UNIFORM,
        change(name, bytes) {
          // Rows of a tile are 16 bytes apart: row 0 has a NaN of either sign, row 1 zeros.
          if (name === "SFA0") bytes.set([0x7f, 0xff]);
          if (name === "SFA0") bytes.fill(0, 16, 20);
        },
      });
      const values = decode(c!, "f16");
      assert(values.subarray(0, 8).every(Number.isNaN), kernel.name);
      assert(values.subarray(8, 16).every((x) => x === 0), kernel.name);
      assert(values.subarray(16).every(Number.isFinite), kernel.name);
    }
  },
);

Deno.test("cpuKernels are in the order of listings", () => {
  assertStrictEquals(
    cpuKernels.map(({ name }) => name).join(" "),
    "naive grouped",
  );
});
