import { match, ok, strictEqual } from "node:assert/strict";
import { hipTest } from "../../../backends/testdata/hip_mocks.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { hipKernels } from "./hip.ts";
import { hipRules, type HipTile, hipTiles, ldsBytes } from "./tiles.ts";
import { matmul } from "../op.ts";
import { type Change, emulate, Workshop } from "../../testdata/emulated.ts";

const kernel = hipKernels.find(({ name }) => name === "decompose-k")!;
const RAGGED = { m: 30, n: 44, k: 600, epilogue: "bias+relu" };
const WHOLE = { m: 32, n: 48, k: 768, epilogue: "relu" };

/** Tiles that differ most: one wave, waves that split K, the most waves, the widest. */
const EXTREMES: readonly HipTile[] = [0, 3, 5, 8, 16, 21].map((i) =>
  hipTiles[i]!
);

for (const type of ["bf16", "f16", "f32"]) {
  for (const layout of ["nn", "nt"]) {
    hipTest(
      `decompose-k is right with the extreme tiles, ${type} ${layout}`,
      async (device) => {
        using workshop = new Workshop();
        let ran = 0;
        for (const tile of EXTREMES) {
          for (const shape of [RAGGED, WHOLE]) {
            const point = matmul.point({ ...shape, type, layout });
            const config = { ...tile, SPLIT: 3 };
            if (ldsBytes(tile, point.type) > 65536) continue;
            if (hipRules.waves(point, config)) continue;
            const found = await emulate(device, workshop, {
              op: matmul,
              kernel,
              point,
              config,
            });
            strictEqual(found, "", JSON.stringify([shape, config]));
            ran++;
          }
        }
        ok(ran >= 6, `${ran}`);
      },
    );
  }
}

interface Mutant extends Change {
  readonly name: string;
  readonly config: Values;
}

const SHARED = { BM: 16, BN: 16, BK: 128, WAVES: 4, SPLIT: 2 };
const WIDE = { BM: 32, BN: 32, BK: 64, WAVES: 4, SPLIT: 2 };

const MUTANTS: readonly Mutant[] = [
  {
    name: "the barrier after the first step arrives",
    file: "partial_mfma.hip",
    from: "  put(0);\n  barrier();",
    to: "  put(0);",
    config: WIDE,
  },
  {
    name: "the barrier after a step",
    file: "partial_mfma.hip",
    from: "    if (more) put((step + 1) % 2);\n    barrier();",
    to: "    if (more) put((step + 1) % 2);",
    config: WIDE,
  },
  {
    name: "one of the two places",
    file: "partial_mfma.hip",
    from: "put((step + 1) % 2)",
    to: "put(step % 2)",
    config: WIDE,
  },
  {
    name: "the barrier at which waves that split K meet",
    file: "tile.hip.h",
    from: "part[i];\n    barrier();",
    to: "part[i];",
    config: SHARED,
  },
  {
    name: "a wave's share of K",
    file: "tile.hip.h",
    from: "w < WK; w++) sum +=",
    to: "w < WK - 1; w++) sum +=",
    config: SHARED,
  },
  {
    name: "the order of fragment lanes",
    file: "tile.hip.h",
    from: "fa[t] = a[chunk_at(m + t * 16 + lane % 16, chunk(i))]",
    to:
      "fa[t] = a[chunk_at(m + t * 16 + (lane % 16 ^ (lane % 16 < 2)), chunk(i))]",
    config: WIDE,
  },
  {
    name: "the order of two chunks of k",
    file: "tile.hip.h",
    from: "return b[chunk_at(n + t * 16 + lane % 16, chunk(i))]",
    to: "return b[chunk_at(n + t * 16 + lane % 16, chunk(i) ^ 1)]",
    config: WIDE,
  },
  {
    name: "one of two products of a chunk",
    file: "tile.hip.h",
    from: "return mfma_bf16(u32x2{a[2], a[3]}, u32x2{b[2], b[3]}, c);",
    to: "return c;",
    config: WIDE,
  },
  {
    name: "the transposition of a square",
    file: "tile.hip.h",
    from: "x.at[r] = held[i][r].at[c];",
    to: "x.at[r] = held[i][c].at[r];",
    config: WIDE,
  },
  {
    name: "the rows of a result",
    file: "tile.hip.h",
    from: "square / NT16 * 16 + lane / 16 * 4; }",
    to: "square / NT16 * 16 + (lane / 16 ^ 1) * 4; }",
    config: WIDE,
  },
  {
    name: "the barrier of the reducer",
    file: "sum_split.hip",
    from: "] = sum;\n  barrier();",
    to: "] = sum;",
    config: WIDE,
  },
  {
    name: "a slice of the reducer",
    file: "sum_split.hip",
    from: "int first = tid / LANES; first < S;",
    to: "int first = tid / LANES; first < S - 1;",
    config: WIDE,
  },
  {
    name: "the guard of the last rows",
    file: "partial_mfma.hip",
    from: "if (row + r < M) ",
    to: "",
    config: WIDE,
  },
];

hipTest(
  "decompose-k as it is passes where its mutants are caught",
  async (device) => {
    using workshop = new Workshop();
    for (const config of [SHARED, WIDE]) {
      const point = matmul.point({ ...RAGGED, type: "bf16" });
      const seeds = [1, 2, 3, 4];
      const found = await emulate(device, workshop, {
        op: matmul,
        kernel,
        point,
        config,
        seeds,
      });
      strictEqual(found, "");
    }
  },
);

for (const { name, config, ...change } of MUTANTS) {
  hipTest(`decompose-k without ${name} is caught`, async (device) => {
    using workshop = new Workshop(change);
    const point = matmul.point({ ...RAGGED, type: "bf16" });
    const seeds = [1, 2, 3, 4];
    const found = await emulate(device, workshop, {
      op: matmul,
      kernel,
      point,
      config,
      seeds,
    });
    match(found, /race|wrong|nobody wrote|no memory|nothing orders/);
  });
}
