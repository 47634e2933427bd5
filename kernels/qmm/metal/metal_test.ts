import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { m3max } from "../../testdata/devices.ts";
import { metalKernels } from "./metal.ts";
import { qmmTileRules, qmmTiles, sliceLength } from "./tiles.ts";
import { isFast, mlxName } from "./mlx_dispatch.ts";
import { readPoint } from "../point.ts";

const kernel = (name: string) => metalKernels.find((k) => k.name === name)!;
const configs = (name: string, values: Record<string, string | number>) =>
  [...kernel(name).candidates(readPoint(values), m3max)]
    .filter(({ illegal }) => illegal === undefined).map(({ config }) => config);

Deno.test("metalKernels are in the order of listings", () => {
  assertEquals(metalKernels.map(({ name }) => name), [
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
