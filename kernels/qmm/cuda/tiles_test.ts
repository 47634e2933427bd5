import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { allFormats } from "../../../bench/formats/quant_format.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { h200 } from "../../testdata/devices.ts";
import { qmm } from "../op.ts";
import { readPoint, TYPES } from "../point.ts";
import {
  type CudaPlace,
  qmvPlaces,
  qvmPlaces,
  tilePlaces,
} from "../testdata/cuda_mutants.ts";
import { dotsConfigs } from "./cuda.ts";
import { predictTile, qmmSplitK, qmmTile, tileConfigs } from "./qmm.ts";
import {
  rowsOf,
  sharedBytes,
  sliceOf,
  type TileConfig,
  tilesOf,
} from "./tiles.ts";

const config: TileConfig = {
  BM: 8,
  RT: 4,
  WN: 1,
  WK: 8,
  KS: 128,
  STAGES: 2,
  CLUSTER: 2,
};
const point = (values: Values) =>
  qmm.point({ m: 1, n: 4096, k: 4096, ...values });

Deno.test("sliceOf() gives whole steps, and the last slice what is left", () => {
  assertStrictEquals(sliceOf(point({}), config), 2048);
  // 20 steps over 3 blocks: 7, 7, 6.
  assertStrictEquals(
    sliceOf(point({ k: 2560 }), { ...config, CLUSTER: 3 }),
    7 * 128,
  );
  // 41 groups of 64: 20.5 steps, the last one ragged; MLX does not split such a K.
  assertStrictEquals(sliceOf(point({ k: 2624 }), config), 11 * 128);
});

Deno.test("tilesOf() covers N with rows of weights and M with tokens", () => {
  assertStrictEquals(rowsOf(config), 64);
  assertEquals(tilesOf(point({ m: 17, n: 130 }), config), [3, 3]);
});

Deno.test("sharedBytes() are ring, mailboxes, scales and biases", () => {
  // Rows of 64 bytes in 96, of x in 272; 16 stages; 128 units of 16 bytes in 2 x 64
  // places and a barrier; 32 scales and 32 biases in 5 chunks each, wherever they start.
  assertStrictEquals(
    sharedBytes(point({}), config),
    16 * (64 * 96 + 8 * 272) + 2 * 64 * 16 + 16 + 2 * 64 * 5 * 16,
  );
  // nvfp4: 256 scales in 17 chunks.
  assertStrictEquals(
    sharedBytes(point({ mode: "nvfp4" }), { ...config, CLUSTER: 1 }),
    16 * (64 * 96 + 8 * 272) + 64 * 17 * 16,
  );
});

Deno.test("candidates() name the rule against each illegal config", () => {
  const rules = new Set(
    [
      ...qmmSplitK.candidates(point({ n: 40, k: 704, m: 16 }), h200),
      ...qmmSplitK.candidates(
        point({ m: 64, mode: "affine", bits: 8, group: 32, k: 8192 }),
        h200,
      ),
    ].flatMap(({ rule }) => rule ?? []),
  );
  for (
    const rule of [
      "few",
      "tokens",
      "rows",
      "stages",
      "idle",
      "slices",
      "shared",
    ]
  ) {
    assert(rules.has(rule), rule);
  }
});

Deno.test("candidates() have a tile of one token for one, of 24 for 17 to 24", () => {
  const tokens = (m: number) =>
    new Set(
      [...qmmTile.candidates(point({ m }), h200)]
        .filter(({ illegal }) => illegal === undefined)
        .map(({ config }) => config.BM),
    );
  assertEquals(tokens(1), new Set([1]));
  assertEquals(tokens(2), new Set([8]));
  assertEquals(tokens(24), new Set([16, 24]));
  assertEquals(tokens(25), new Set([16, 32]));
});

Deno.test("candidates() have no slices that a full machine does not need", () => {
  const clusters = (n: number) =>
    new Set(
      [...qmmSplitK.candidates(point({ n, k: n }), h200)]
        .filter(({ illegal }) => illegal === undefined)
        .map(({ config }) => config.CLUSTER),
    );
  assertEquals(clusters(2560), new Set([2, 3, 4, 5]));
  assertEquals(clusters(8192), new Set([2]));
});

Deno.test("candidates() leave some config at every edge-case shape", () => {
  for (const odd of qmm.edgeCases.filter(({ transposed }) => transposed)) {
    const legal = [...qmmTile.candidates(odd, h200)]
      .filter(({ illegal }) => illegal === undefined);
    assert(legal.length > 0, JSON.stringify(odd));
  }
});

Deno.test("predictTile() prefers a full machine to half of one", () => {
  const half = { ...config, CLUSTER: 1 };
  assert(
    predictTile(point({}), config, h200) < predictTile(point({}), half, h200),
  );
});

Deno.test("unsupported() names what weights along N lack", () => {
  assertMatch(
    qmmTile.unsupported(point({ layout: "nn" }), h200) ?? "",
    /^groups of weights run along N/,
  );
  assertMatch(
    qmmTile.unsupported(point({}), { ...h200, arch: "sm_80" }) ?? "",
    /^sm_80 has no thread-block clusters/,
  );
  assertStrictEquals(qmmTile.unsupported(point({}), h200), undefined);
});

/** Each axis of `configs` with its values. */
function axesOf(configs: Iterable<Values>): Record<string, Set<unknown>> {
  const axes: Record<string, Set<unknown>> = {};
  for (const config of configs) {
    for (const [axis, value] of Object.entries(config)) {
      (axes[axis] ??= new Set()).add(value);
    }
  }
  return axes;
}
const formatsOf = (places: readonly CudaPlace[]) =>
  new Set(places.map(({ point: { mode, bits } }) => `${mode} ${bits ?? ""}`));
const typedFormatsOf = (places: readonly CudaPlace[]) =>
  new Set(
    TYPES.flatMap((type) =>
      [...formatsOf(places.filter(({ point }) => point.type === type))]
        .map((format) => `${type} ${format}`)
    ),
  );
const all = new Set(
  allFormats().map(({ mode, bits }) =>
    `${mode} ${mode === "affine" ? bits : ""}`
  ),
);

Deno.test("tilePlaces have every width in both types, and every value of an axis", () => {
  assertEquals(
    typedFormatsOf(tilePlaces),
    new Set(TYPES.flatMap((type) => [...all].map((x) => `${type} ${x}`))),
  );
  assertEquals(
    axesOf(tilePlaces.map(({ config }) => config)),
    axesOf(tileConfigs([1, 2, 3, 4, 5, 8])),
  );
});

for (
  const [name, places, values] of [
    ["qmvPlaces", qmvPlaces, { m: 1, n: 1, k: 64 }],
    ["qvmPlaces", qvmPlaces, { m: 1, n: 64, k: 1, layout: "nn" }],
  ] as const
) {
  Deno.test(`${name} have every width, type and value of an axis`, () => {
    assertEquals(formatsOf(places), all);
    assertEquals(
      new Set(places.map(({ point }) => point.type)),
      new Set(TYPES),
    );
    assertEquals(
      axesOf(places.map(({ config }) => config)),
      axesOf(dotsConfigs(readPoint(values))),
    );
  });
}
