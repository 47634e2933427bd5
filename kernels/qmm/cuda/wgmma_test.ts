import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { allFormats } from "../../../bench/formats/quant_format.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { h200 } from "../../testdata/devices.ts";
import { qmm } from "../op.ts";
import { readPoint, TYPES } from "../point.ts";
import {
  columnPlaces,
  evenPlaces,
  lastPlaces,
  wgmmaPlaces,
} from "../testdata/cuda_mutants.ts";
import { qmmWgmma } from "./wgmma.ts";
import { predictWgmma } from "./wgmma_model.ts";
import {
  hasTable,
  isEven,
  lastOf,
  sharedBytes,
  stagesOf,
  stepsOf,
  type WgmmaConfig,
} from "./wgmma_tile.ts";

const config: WgmmaConfig = {
  ...{ BM: 128, ROWS: 128, SETS: 1, PLACES: 2, CLUSTER: 1 },
};
const point = (values: Values) =>
  qmm.point({ m: 128, n: 4096, k: 4096, ...values });
const legal = (values: Values) =>
  [...qmmWgmma.candidates(point(values), h200)]
    .filter(({ illegal }) => illegal === undefined)
    .map(({ config }) => config as WgmmaConfig);

Deno.test("sharedBytes() are stages of x, spans of weights, mailboxes, barriers", () => {
  // 8 warps with two places of 16 rows of 128 + 16 bytes, and of 4 scales and biases.
  const weights = 8 * 2 * 16 * (144 + 16);
  assertEquals(stagesOf(point({}), config), {
    stages: 5,
    steps: 2,
    late: false,
  });
  assertStrictEquals(
    sharedBytes(point({}), config),
    10 * 128 * 128 + weights + 5 * 16,
  );
  const two = { ...config, CLUSTER: 2 };
  assertEquals(stagesOf(point({}), two), { stages: 4, steps: 2, late: false });
  assertStrictEquals(
    sharedBytes(point({}), two),
    8 * 128 * 128 + weights + 128 * 128 * 2 + 16 + 4 * 16,
  );
  assert(sharedBytes(point({}), config) <= h200.sharedBytes);
  assert(sharedBytes(point({}), config) + 2 * 128 * 128 > h200.sharedBytes);
});

Deno.test("steps share a stage where three stages fit", () => {
  const stages = (values: Values, BM: number) => {
    const { stages, steps } = stagesOf(point(values), { ...config, BM });
    return [stages, steps];
  };
  assertEquals(stages({}, 256), [5, 1]);
  assertEquals(stages({}, 160), [4, 2]);
  assertEquals(stages({}, 64), [4, 4]);
  // Seven and fifteen steps in all; a span of x · W has two.
  assertEquals(stages({ k: 7 * 64 }, 64), [3, 2]);
  assertEquals(stages({ k: 15 * 64 }, 64), [3, 4]);
  assertEquals(stages({ layout: "nn" }, 64), [8, 2]);
});

Deno.test("mailboxes take the place of stages where few would be left", () => {
  const wide = { ...config, BM: 256, CLUSTER: 2 };
  const { stages, late } = stagesOf(point({ m: 256, k: 8192 }), wide);
  assertEquals([stages, late], [5, true]);
  const [sums, mail] = [256 * 136 * 2, 256 * 128 * 2 + 16];
  assertStrictEquals(
    sharedBytes(point({ m: 256, k: 8192 }), wide),
    Math.max(sums, stages * 256 * 128 + 40960 - mail + 16) + mail + stages * 16,
  );
  assert(sharedBytes(point({ m: 256, k: 8192 }), wide) <= h200.sharedBytes);
});

/** Bytes of the stages of x of `config`, and of their barriers. */
function stageBytes(values: Values) {
  const { stages, steps } = stagesOf(point(values), config);
  return stages * (steps * 128 * 128 + 16);
}

Deno.test("sharedBytes() of x · W have a ring for each set", () => {
  // Two places of 128 rows of 64 bytes, and of 16 of scales and biases each; pairs of rows' scales
  // of two groups; barriers.
  const weights = 2 * (128 * (64 + 32) + 2 * 64 * 8 + 24);
  assertStrictEquals(
    sharedBytes(point({ layout: "nn" }), config),
    stageBytes({ layout: "nn" }) + weights,
  );
});

Deno.test("sharedBytes() of x · W have room for unpacked codes and single scales", () => {
  // Rows of 80 bytes and 32 of scales and biases; pairs; two spans of bytes; barriers.
  const packed = 2 * (128 * (80 + 32) + 2 * 64 * 8) + 2 * 128 * 128;
  assertStrictEquals(
    sharedBytes(point({ layout: "nn", bits: 5 }), config),
    stageBytes({ layout: "nn", bits: 5 }) +
      Math.ceil(packed / 1024) * 1024 + 2 * 24,
  );
  const single = Math.ceil(2 * (128 * (64 + 4) + 64 * 8) / 1024) * 1024;
  assertStrictEquals(
    sharedBytes(point({ layout: "nn", group: "channel" }), config),
    stageBytes({ layout: "nn", group: "channel" }) + single + 2 * 24,
  );
});

Deno.test("sharedBytes() have room for decoded scales where that is work", () => {
  // A byte for each 16 weights; of four steps four words of each row.
  const weights = 8 * (2 * 16 * (144 + 16) + 4 * 16 * 4 * 4);
  assertStrictEquals(
    sharedBytes(point({ mode: "nvfp4" }), config),
    stageBytes({ mode: "nvfp4" }) + weights,
  );
});

Deno.test("sharedBytes() have room for the table of E2M1 codes", () => {
  const at = point({ mode: "mxfp4" });
  const few = { ...config, BM: 96 };
  const { stages, steps } = stagesOf(at, few);
  // Of four steps two words of each row.
  const weights = 8 * (2 * 16 * (144 + 8) + 4 * 16 * 2 * 4);
  assertStrictEquals(
    sharedBytes(at, few),
    256 * 256 + stages * (steps * 96 * 128 + 16) + weights,
  );
});

Deno.test("E2M1 codes are looked up for few tokens and two warps a scheduler", () => {
  const looked = (values: Values, other: Values = {}) =>
    hasTable(point(values), { ...config, ...other } as WgmmaConfig);
  for (const mode of ["mxfp4", "nvfp4"]) {
    assert(looked({ mode }, { BM: 96 }) && !looked({ mode }, { BM: 128 }));
    assert(!looked({ mode }, { BM: 96, SETS: 2 }));
    assert(!looked({ mode, layout: "nn" }, { BM: 96 }));
  }
  assert(!looked({}, { BM: 96 }) && !looked({ mode: "mxfp8" }, { BM: 96 }));
});

Deno.test("places have E2M1 codes of both modes with a table and without", () => {
  for (const mode of ["mxfp4", "nvfp4"]) {
    const tables = wgmmaPlaces.flatMap(({ point, config }) =>
      point.mode === mode
        ? [hasTable(readPoint(point), config as WgmmaConfig)]
        : []
    );
    assertEquals(new Set(tables), new Set([true, false]));
  }
});

Deno.test("sharedBytes() have room for what sets hand over, and rows of y", () => {
  const at = point({ m: 176, k: 8192, bits: 2, group: 128 });
  const short = { ...config, BM: 176, ROWS: 64, SETS: 3, CLUSTER: 5 };
  // Two of three sets hand over four sums of each thread for 8 of 22 times 8 tokens.
  const sums = 2 * 8 * 384 * 16 + 176 * 72 * 2;
  const mail = 4 * 2 * 384 * 16 + 16;
  assertEquals(stagesOf(at, short), { stages: 2, steps: 1, late: true });
  assertStrictEquals(sharedBytes(at, short), sums + mail + 3 * 2 * 16);
});

Deno.test("candidates() of qmm-wgmma leave some config at every shape of its range", () => {
  for (const m of [1, 17, 33, 64, 100, 128, 300, 512, 1024, 2048]) {
    for (const format of [...allFormats(), { bits: 4, group: "channel" }]) {
      for (const [n, k] of [[4096, 4096], [2560, 2560], [256, 128]]) {
        const values = { m, n: n!, k: k!, ...format };
        assert(legal(values).length > 0, JSON.stringify(values));
        assert(legal({ ...values, layout: "nn" }).length > 0);
      }
    }
  }
});

Deno.test("candidates() of qmm-wgmma decode a weight at most every 64 tokens", () => {
  const tokens = (m: number) =>
    [...new Set(legal({ m }).map(({ BM }) => BM))].toSorted((a, b) => a - b);
  assertEquals(tokens(40), [64]);
  assertEquals(tokens(512), [64, 88, 96, 128, 176, 256]);
});

Deno.test("candidates() of qmm-wgmma have tiles that make the blocks two whole waves", () => {
  const shape = { m: 2048, n: 2560, k: 2560 };
  const [best] = legal(shape).toSorted((a, b) =>
    predictWgmma(point(shape), a, h200) - predictWgmma(point(shape), b, h200)
  );
  // 20 x 13 blocks for 132 multiprocessors; tiles of 176 tokens make 240.
  assertEquals([best!.ROWS, best!.BM, best!.CLUSTER], [128, 160, 1]);
});

Deno.test("predictWgmma() prefers 128 x 256 tiles where they fill the machine", () => {
  const at = point({ m: 1024 });
  const [best] = legal({ m: 1024 }).toSorted((a, b) =>
    predictWgmma(at, a, h200) - predictWgmma(at, b, h200)
  );
  assertEquals([best!.ROWS, best!.BM, best!.CLUSTER], [128, 256, 1]);
});

Deno.test("qmm-wgmma says what it cannot compute", () => {
  const why = (values: Values, arch = "sm_90a") =>
    qmmWgmma.unsupported(point(values), { ...h200, arch });
  assertStrictEquals(why({}), undefined);
  assertStrictEquals(why({ layout: "nn" }), undefined);
  assertStrictEquals(why({ layout: "nn", bits: 5 }), undefined);
  assertStrictEquals(why({ layout: "nn", group: "channel" }), undefined);
  assertStrictEquals(
    why({ layout: "nn", k: 4100 }),
    "K=4100: tensor maps need rows of x of whole 16 bytes",
  );
  assertStrictEquals(
    why({ layout: "nn", n: 192 }),
    "N=192: its copies need rows of whole 16 bytes of codes and 4 of scales",
  );
  assertStrictEquals(
    why({}, "sm_100a"),
    "sm_100a has no wgmma: sm_90a is the only one that has",
  );
});

Deno.test("places of x · Wᵀ use stages of one, two and four steps more than twice", () => {
  const often = wgmmaPlaces.flatMap(({ point, config }) => {
    const [at, tile] = [readPoint(point), config as WgmmaConfig];
    const { stages, steps } = stagesOf(at, tile);
    return stepsOf(at, tile) > 2 * stages * steps ? [steps] : [];
  });
  assertEquals(new Set(often), new Set([1, 2, 4]));
});

Deno.test("copies have no bounds checks where no tile and no span ends outside", () => {
  const even = (values: Values, other: Values = {}) =>
    isEven(point(values), { ...config, ...other } as WgmmaConfig);
  assert(even({}) && even({}, { CLUSTER: 3 }));
  assert(!even({ n: 4096 - 64 }) && even({ n: 4096 - 64 }, { ROWS: 64 }));
  assert(even({ k: 2560 }, { SETS: 2 }) && !even({ k: 2560 }, { SETS: 4 }));
  assert(!even({ k: 2560 }, { SETS: 4, CLUSTER: 3 }));
  assert(!even({ k: 2560 + 32, group: 32 }, { CLUSTER: 3 }));
  assert(!even({ group: "channel" }) && !even({ layout: "nn" }));
});

Deno.test("even places have no bounds checks, some with unequal parts", () => {
  for (const { point, config } of [...evenPlaces, ...lastPlaces]) {
    const at = readPoint(point);
    assert(isEven(at, config as WgmmaConfig), JSON.stringify(point));
  }
  for (const { point, config } of lastPlaces) {
    const last = lastOf(readPoint(point), config as WgmmaConfig);
    assert(last > 0, JSON.stringify(point));
  }
});

Deno.test("the last part of K is whole spans where the parts are unequal", () => {
  const cut = (k: number, SETS: number, CLUSTER: number) => {
    const tile = { ...config, SETS, CLUSTER };
    return [lastOf(point({ k }), tile), stepsOf(point({ k }), tile)];
  };
  // 32 units of 128 in two and three parts: 11, 11 and 10.
  assertEquals(cut(4096, 1, 2), [0, 32]);
  assertEquals(cut(4096, 1, 3), [10, 22]);
  // 20 in four parts are five each, or 4 and up to 6.
  assertEquals(cut(2560, 2, 2), [0, 10]);
  // 20 in twelve parts are less than a span each.
  assertEquals(cut(2560, 4, 3), [0, 4]);
});

Deno.test("places have every mode and width in both types, and every value of an axis", () => {
  for (const places of [wgmmaPlaces, columnPlaces]) {
    const points = places.map(({ point }) => readPoint(point));
    for (const type of TYPES) {
      for (const mode of ["mxfp4", "mxfp8", "nvfp4"]) {
        assert(points.some((p) => p.type === type && p.mode === mode));
      }
    }
    for (const bits of [2, 3, 4, 5, 6, 8]) {
      assert(points.some((p) => p.mode === "affine" && p.bits === bits));
    }
    for (const name of ["SETS", "CLUSTER"]) {
      const seen = new Set(places.map(({ config }) => config[name]));
      for (const value of [1, 2, 3]) {
        assert(seen.has(value), `${name} ${value}`);
      }
    }
  }
});
