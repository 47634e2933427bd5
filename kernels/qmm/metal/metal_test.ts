import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { m3max } from "../../testdata/devices.ts";
import { readPoint } from "../point.ts";
import { metalKernels } from "./metal.ts";
import {
  hasMatrixUnits,
  isFast,
  mlxChoice,
  mlxName,
  parseAppleGpu,
  qmvBatchLimit,
  qvmSplit,
  slicesOf,
  splitOf,
} from "./mlx_dispatch.ts";
import { qmmTileRules, qmmTiles, sliceLength } from "./tiles.ts";

const kernel = (name: string) => metalKernels.find((k) => k.name === name)!;
const configs = (name: string, values: Record<string, string | number>) =>
  [...kernel(name).candidates(readPoint(values), m3max)]
    .filter(({ illegal }) => illegal === undefined).map(({ config }) => config);

Deno.test("metalKernels are in the order of listings", () => {
  assertEquals(metalKernels.map(({ name }) => name), [
    "mps",
    "mlx",
    "qmv",
    "qvm",
    "qvm_split_k",
    "qmm_t",
    "qmm_n",
    "qmm_t_splitk",
    "qmm-splitk",
  ]);
});

Deno.test("mlxName() and isFast() are as MLX has them", () => {
  const point = readPoint({ m: 1, n: 67, k: 512, type: "bf16", mode: "nvfp4" });
  assertStrictEquals(
    mlxName("qmv", point),
    "nvfp4_qmv_bfloat16_t_gs_16_b_4_batch_0",
  );
  assertStrictEquals(
    mlxName("qmm_t", point),
    "nvfp4_qmm_t_bfloat16_t_gs_16_b_4_alN_false_batch_0",
  );
  const flat = readPoint({ m: 1, n: 64, k: 9000, type: "f16", layout: "nn" });
  assertStrictEquals(
    mlxName("qvm", flat),
    "affine_qvm_float16_t_gs_64_b_4_batch_0",
  );
  assertStrictEquals(
    mlxName("qvm_split_k", flat, 32),
    "affine_qvm_split_k_float16_t_gs_64_b_4_spk_32",
  );
  assertStrictEquals(
    mlxName("qmm_n", flat),
    "affine_qmm_n_float16_t_gs_64_b_4_batch_0",
  );
  assert(isFast({ n: 64, k: 512, bits: 4 }));
  assert(!isFast({ n: 67, k: 512, bits: 4 }));
  assert(!isFast({ n: 64, k: 256, bits: 4 }));
  assert(isFast({ n: 64, k: 256, bits: 8 }));
  assert(isFast({ n: 64, k: 256, bits: 6 }));
});

Deno.test("mlx takes what MLX's dispatch takes", () => {
  assertEquals(configs("mlx", { m: 12, n: 2560, k: 2560 }), [
    { kernel: "qmv", split: 1 },
  ]);
  assertEquals(configs("mlx", { m: 16, n: 2560, k: 2560 }), [
    { kernel: "qmm_splitk", split: 5 },
  ]);
  assertEquals(configs("mlx", { m: 64, n: 17408, k: 4096 }), [
    { kernel: "qmm", split: 1 },
  ]);
  const flat = { n: 256, layout: "nn" };
  assertEquals(
    [[1, 1023], [3, 1024], [1, 8193], [4, 1024]].map(([m, k]) =>
      configs("mlx", { ...flat, m: m!, k: k! })[0]
    ),
    [
      { kernel: "qvm", split: 1 },
      { kernel: "qvm_split_k", split: 8 },
      { kernel: "qvm_split_k", split: 32 },
      { kernel: "qmm", split: 1 },
    ],
  );
  assertMatch(
    kernel("mlx").unsupported(readPoint({ m: 1, n: 8, k: 64 }), {
      ...m3max,
      arch: "gfx942",
    })!,
    /Cannot read the architecture gfx942/,
  );
  assertStrictEquals(
    kernel("mlx").unsupported(
      readPoint({ m: 1, n: 8, k: 96, group: "channel" }),
      m3max,
    ),
    "MLX has groups of 32, 64 and 128, and none of a whole row of W",
  );
});

Deno.test("qmm-splitk tries first what few rows leave little of idle", () => {
  for (const m of [4, 8]) {
    assertStrictEquals(
      configs("qmm-splitk", { m, n: 2560, k: 2560 })[0]!.BM,
      8,
    );
  }
  assertStrictEquals(
    configs("qmm-splitk", { m: 12, n: 2560, k: 2560 })[0]!.BM,
    16,
  );
  const point = readPoint({ m: 12, n: 2560, k: 2624 });
  const config = { BM: 16, BN: 32, BK: 32, SM: 1, SN: 4, SPLIT: 6 };
  // Seven groups of 64 each; the sixth slice has six.
  assertStrictEquals(sliceLength(point, config), 448);
  assertStrictEquals(2624 - 5 * 448, 384);
});

Deno.test("qmmTileRules each refuse something", () => {
  const refused = new Set<string>();
  const points = [{ m: 3, n: 20, k: 128 }, { m: 3, n: 20, k: 64 }];
  for (const values of points) {
    const point = readPoint(values);
    for (const config of qmmTiles()) {
      for (const [name, rule] of Object.entries(qmmTileRules)) {
        const small = { ...m3max, sharedBytes: 4096 };
        if (rule(point, config, small) !== undefined) refused.add(name);
      }
    }
  }
  assertEquals([...refused].sort(), Object.keys(qmmTileRules).sort());
});

const M3_MAX = parseAppleGpu("applegpu_g15s");

/** The limits for square weights of each tier. */
const limits = (arch: string) =>
  [2048, 4096, 8192].map((d) =>
    qmvBatchLimit({ n: d, k: d }, parseAppleGpu(arch))
  );

Deno.test("qmvBatchLimit() has MLX's table", () => {
  const table: [string, number[]][] = [
    ["applegpu_g17s", [33, 25, 13]],
    ["applegpu_g18p", [33, 25, 13]],
    ["applegpu_g17d", [32, 18, 12]],
    ["applegpu_g16s", [13, 15, 13]],
    ["applegpu_g15g", [13, 15, 13]],
    ["applegpu_g15d", [32, 18, 12]],
    ["applegpu_g14s", [14, 10, 6]],
    ["applegpu_g13p", [14, 10, 6]],
    ["applegpu_g12g", [18, 12, 10]],
  ];
  for (const [arch, want] of table) assertEquals(limits(arch), want, arch);
});

Deno.test("qmvBatchLimit() takes a tier in which both K and N are", () => {
  const of = (n: number, k: number) => qmvBatchLimit({ n, k }, M3_MAX);
  assertEquals(
    [[2048, 2048], [2049, 2048], [2048, 4096], [4097, 64], [64, 8192]]
      .map(([n, k]) => of(n!, k!)),
    [13, 15, 15, 13, 13],
  );
});

Deno.test("splitOf() gives the worked values of MLX's rule", () => {
  const of = (m: number, n: number, k: number) =>
    splitOf({ m, n, k, group: 64 });
  // 80 threadgroups: 512 / 80 = 6, and 2560 is no multiple of 6 · 64.
  assertEquals(of(12, 2560, 2560), 5);
  assertEquals(of(16, 4096, 4096), 4);
  // 544 threadgroups are enough.
  assertEquals(of(16, 17408, 5120), 1);
  // As ml-explore/mlx#3584 prints them.
  assertEquals([64, 96, 128, 160].map((m) => of(m, 2048, 8192)), [4, 2, 2, 1]);
});

Deno.test("splitOf() cuts at whole steps where groups are short", () => {
  assertEquals(splitOf({ m: 1, n: 32, k: 192, group: 64 }), 3);
  const nvfp4 = { m: 1, n: 32, k: 528, group: 16 };
  // 33 groups of 16 are no whole steps of 32.
  assertEquals(splitOf(nvfp4), 1);
  assertEquals(splitOf({ ...nvfp4, k: 512 }), 16);
  assertEquals(splitOf({ ...nvfp4, k: 16 }), 1);
});

Deno.test("hasMatrixUnits() asks for an M5 and macOS 26.2", () => {
  const of = (arch: string, driver: string) =>
    hasMatrixUnits(parseAppleGpu(arch), driver);
  const found = [
    of("applegpu_g17g", "macOS 26.2 (Build 25C56)"),
    of("applegpu_g17g", "macOS 27.0 (Build 26A1)"),
    of("applegpu_g18p", "macOS 26.3"),
    of("applegpu_g17p", "macOS 26.3"),
    of("applegpu_g17g", "macOS 26.1 (Build 25B78)"),
    of("applegpu_g16s", "macOS 26.2 (Build 25C56)"),
    of("applegpu_g17s", "emulator 26.2"),
  ];
  assertEquals(found, [true, true, true, false, false, false, false]);
});

Deno.test("mlxChoice() has matrix units for x · Wᵀ in one slice of whole steps", () => {
  const m5 = parseAppleGpu("applegpu_g17s");
  const of = (values: { n?: number; k?: number; transposed?: boolean }) =>
    mlxChoice(
      { m: 40, n: 20480, k: 4096, group: 32, transposed: true, ...values },
      m5,
      true,
    );
  assertEquals(
    [of({}), of({ k: 4128 }), of({ n: 4096 }), of({ transposed: false })],
    [
      { kernel: "qmm_nax", split: 1 },
      { kernel: "qmm", split: 1 },
      { kernel: "qmm_splitk", split: 2 },
      { kernel: "qmm", split: 1 },
    ],
  );
  // The vector kernels stay.
  assertStrictEquals(
    mlxChoice(
      { m: 12, n: 8192, k: 8192, group: 64, transposed: true },
      m5,
      true,
    ).kernel,
    "qmv",
  );
  const point = { n: 20480, k: 4096, type: "f16" };
  assertEquals(
    [32, 33].map((m) => mlxName("qmm_t_nax", readPoint({ ...point, m }))),
    [32, 64].map((rows) =>
      `affine_qmm_t_nax_float16_t_gs_64_b_4_bm${rows}_bn64_bk64_wm2_wn2_alN_true_batch_0`
    ),
  );
});

Deno.test("mlx takes matrix units where the device has them", () => {
  const info = { ...m3max, arch: "applegpu_g17s" };
  const point = readPoint({ m: 64, n: 17408, k: 4096 });
  const of = (driver: string) =>
    [...kernel("mlx").candidates(point, { ...info, driver })].map((c) =>
      c.config
    );
  assertEquals(of("macOS 26.2 (Build 25C56)"), [
    { kernel: "qmm_nax", split: 1 },
  ]);
  assertEquals(of("macOS 15.1 (Build 24B83)"), [{ kernel: "qmm", split: 1 }]);
});

Deno.test("mlxChoice() at 4096 on an M3 Max goes by M", () => {
  const of = (m: number) =>
    mlxChoice({ m, n: 4096, k: 4096, group: 32, transposed: true }, M3_MAX);
  for (const m of [1, 2, 10, 14]) assertEquals(of(m).kernel, "qmv", `${m}`);
  for (const m of [16, 20, 32]) {
    assertEquals(of(m), { kernel: "qmm_splitk", split: 4 }, `${m}`);
  }
  assertEquals(of(2048), { kernel: "qmm", split: 1 });
});

Deno.test("mlxChoice() of x · W goes by M = 4 and by K", () => {
  const of = (m: number, k: number) =>
    mlxChoice({ m, n: 4096, k, group: 64, transposed: false }, M3_MAX);
  assertEquals([of(4, 4096), of(3, 1023), of(3, 1024), of(3, 8193)], [
    { kernel: "qmm", split: 1 },
    { kernel: "qvm", split: 1 },
    { kernel: "qvm_split_k", split: 8 },
    { kernel: "qvm_split_k", split: 32 },
  ]);
});

Deno.test("qvmSplit() leaves no slice empty, and one of MLX's tests' K in equal ones", () => {
  for (let k = 1024; k < 20_000; k++) {
    const split = qvmSplit(k);
    assert((split - 1) * Math.ceil(k / split) < k, `${k}`);
  }
  // test_qvm_splitk of MLX has K = 16384.
  assertEquals([qvmSplit(16384), 16384 / 32], [32, 512]);
});

Deno.test("slicesOf() covers K once, in whole units but for the last", () => {
  for (const k of [1, 63, 64, 320, 2560, 2624, 8192]) {
    for (const split of [1, 2, 3, 6, 7, 40]) {
      for (const unit of [16, 64, 128]) {
        const slices = slicesOf({ k, split, unit });
        assert(slices.length >= 1 && slices.length <= split);
        slices.forEach(({ from, to }, i) => {
          assertStrictEquals(from, i === 0 ? 0 : slices[i - 1]!.to);
          assert(to > from);
          if (i < slices.length - 1) assertStrictEquals((to - from) % unit, 0);
        });
        assertStrictEquals(slices.at(-1)!.to, k);
      }
    }
  }
});

Deno.test("slicesOf() keeps the slices that MLX's rule gives up", () => {
  // 2560 = 5 · 448 + 320: 6 slices where equal ones would be 5.
  const even = splitOf({ m: 12, n: 2560, k: 2560, group: 64 });
  const ours = slicesOf({ k: 2560, split: 6, unit: 64 });
  assertEquals([even, ours.length, ours.at(-1)], [
    5,
    6,
    { from: 2240, to: 2560 },
  ]);
  // 41 groups are a prime number: MLX does not split at all.
  const prime = splitOf({ m: 12, n: 2560, k: 2624, group: 64 });
  assertStrictEquals(prime, 1);
  assertStrictEquals(slicesOf({ k: 2624, split: 6, unit: 64 }).length, 6);
});

Deno.test("parseAppleGpu() refuses what is no such name", () => {
  assertThrows(
    () => parseAppleGpu("sm_90a"),
    RangeError,
    "Cannot read the architecture sm_90a: it has the form applegpu_g15s",
  );
});
