import { match, ok, strictEqual } from "node:assert/strict";
import { metalTest } from "../../../backends/testdata/metal_mocks.ts";
import { metalKernels } from "./metal.ts";
import { type MetalTile, metalTiles } from "./tiles.ts";
import { matmul } from "../op.ts";
import { type Change, emulate, Workshop } from "../../testdata/emulated.ts";

const kernel = metalKernels.find(({ name }) => name === "decompose-k")!;
const RAGGED = { m: 30, n: 44, k: 600, epilogue: "bias+relu" };
const WHOLE = { m: 32, n: 48, epilogue: "relu" };

/** Slices of 52 and of 96: no multiple of any step but the least, and of most. */
const SHORT = [{ ...RAGGED, k: 156 }, { ...WHOLE, k: 288 }] as const;

/** Tiles that differ most: the fewest lanes, eight rows, one simdgroup along M, the widest. */
const EXTREMES: readonly MetalTile[] = [1, 3, 6, 10, 14].map((i) =>
  metalTiles[i]!
);

for (const type of ["bf16", "f16", "f32"]) {
  for (const layout of ["nn", "nt"]) {
    metalTest(
      `decompose-k on Metal is right with the extreme tiles, ${type} ${layout}`,
      async (device) => {
        using workshop = new Workshop(undefined, "metal");
        let ran = 0;
        for (const [i, tile] of EXTREMES.entries()) {
          const point = matmul.point({
            ...SHORT[i % 2],
            ...{ type, layout },
          });
          const config = { ...tile, SPLIT: 3 };
          const found = await emulate(device, workshop, {
            op: matmul,
            kernel,
            point,
            config,
          });
          strictEqual(found, "", JSON.stringify(config));
          ran++;
        }
        ok(ran === EXTREMES.length);
      },
    );
  }
}

const config = { BM: 16, BN: 32, BK: 32, SM: 2, SN: 2, SPLIT: 2 };

const MUTANTS: readonly (Change & { readonly name: string })[] = [
  {
    name: "the barrier before a product",
    file: "partial_simd.metal",
    from: "    barrier();\n    multiply<",
    to: "    multiply<",
  },
  {
    name: "the barrier after a product",
    file: "partial_simd.metal",
    from: "(sums, a, b);\n    barrier();",
    to: "(sums, a, b);",
  },
  {
    name: "the last step of a slice",
    file: "partial_simd.metal",
    from: "k < slice; k += BK",
    to: "k + BK < slice; k += BK",
  },
  {
    name: "the start of a slice",
    file: "partial_simd.metal",
    from: "long(block.z) * slice;",
    to: "0;",
  },
  {
    name: "the order of fragment lanes",
    file: "tile.metal.h",
    from: "left[i] = float2{float(p[0]), float(p[1])};",
    to: "left[i] = float2{float(p[1]), float(p[0])};",
  },
  {
    name: "the transposition of B",
    file: "tile.metal.h",
    from: "(s.n + s.col) * LDB + s.row : s.row * LDB + s.n + s.col;",
    to: "(s.n + s.row) * LDB + s.col : s.col * LDB + s.n + s.row;",
  },
  {
    name: "one of the squares",
    file: "tile.metal.h",
    from: "for (int j = 0; j < TN; j++) multiply_add",
    to: "for (int j = 1; j < TN; j++) multiply_add",
  },
  {
    name: "a simdgroup's rows",
    file: "tile.metal.h",
    from: "s.m = simd / SN * TM * SIDE;",
    to: "s.m = 0;",
  },
  {
    name: "the guard of the last rows",
    file: "tile.metal.h",
    from: "if (row >= rows) continue;",
    to: "",
  },
  {
    name: "the guard of the last column",
    file: "tile.metal.h",
    from: "if (col + 1 < cols) p[1]",
    to: "p[1]",
  },
  {
    name: "zeros beyond the end of K",
    file: "tile.metal.h",
    from: "row < rows && col + i < cols) x = q[i];",
    to: "row < rows) x = q[i];",
  },
  {
    name: "the barrier of the reducer",
    file: "sum_split.metal",
    from: "  barrier();\n",
    to: "",
  },
  {
    name: "a slice of the reducer",
    file: "sum_split.metal",
    from: "int s = tid / LANES; s < S;",
    to: "int s = tid / LANES; s < S - 1;",
  },
];
const SEEDS = [1, 2, 3, 4];

for (const layout of ["nn", "nt"]) {
  metalTest(
    `decompose-k on Metal as it is passes where its mutants are caught, ${layout}`,
    async (device) => {
      using workshop = new Workshop(undefined, "metal");
      // Odd: the last column of C has no neighbour.
      const point = matmul.point({ ...RAGGED, n: 43, type: "bf16", layout });
      const found = await emulate(device, workshop, {
        ...{ op: matmul, kernel, point, config, seeds: SEEDS },
      });
      strictEqual(found, "");
    },
  );
}

for (const { name, ...change } of MUTANTS) {
  metalTest(
    `decompose-k on Metal without ${name} is caught`,
    async (device) => {
      using workshop = new Workshop(change, "metal");
      const point = matmul.point({ ...RAGGED, n: 43, type: "bf16" });
      const found = await emulate(device, workshop, {
        ...{ op: matmul, kernel, point, config, seeds: SEEDS },
      });
      match(found, /race|wrong|nobody wrote|no memory|nothing orders/);
    },
  );
}
