/**
 * The cases of `matmul` for the tests of all operations, and the builds that its own tests name.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import type { OpCases } from "../../testdata/cases.ts";
import { matmul } from "../op.ts";
import { EPILOGUES, type MatmulPoint, TYPES } from "../point.ts";

/** Extremes of BM, BN, BK, WARPS, STAGES: what differs most in how it is compiled. */
export const EXTREMES: readonly string[] = [
  "16 16 32 1 4", // least work a thread, one warp
  "16 16 64 4 4", // four warps on one 16 x 16 tile
  "16 32 256 4 4", // longest step, two warps on one tile
  "32 128 64 4 4", // widest
  "64 64 32 4 3", // shortest step of many warps, fewest stages
  "64 64 64 8 5", // most warps
  "64 64 128 4 5", // most registers and shared memory
];

/** Of dot: LAYOUT, ROWS, THREADS, COLS, UNROLL, CLUSTER with the most registers, and the fewest. */
export const DOTS: readonly string[] = [
  "nt 1 128 8 4 1", // one row
  "nt 4 256 4 4 1", // most of a larger block
  "nt 8 128 8 1 8", // most sums of whole columns
  "nn 8 256 16 8 8", // most sums of rows of B
  "nt 1 512 1 2 1", // least work a thread
];

/** Operands of several types. */
const mixed: readonly MatmulPoint[] = [
  { m: 17, n: 33, k: 129, type_c: "f32", epilogue: "bias+relu" },
  { m: 4, n: 64, k: 1000, type: "f16", type_c: "f32", layout: "nt" },
  { m: 16, n: 48, k: 256, type: "f32", type_b: "bf16", type_c: "bf16" },
  { m: 5, n: 7, k: 9, type: "bf16", type_b: "f16", lda: 10, epilogue: "bias" },
].map(matmul.point);

function points(): MatmulPoint[] {
  return [
    ...matmul.edgeCases,
    ...TYPES.flatMap((type) =>
      (["nn", "nt"] as const).flatMap((layout) =>
        [1, 4, 8].map((m) => matmul.point({ m, n: 256, k: 7168, type, layout }))
      )
    ),
    ...TYPES.flatMap((type) =>
      (["nn", "nt"] as const).map((layout) =>
        matmul.point({
          m: 64,
          n: 128,
          k: 32768,
          type,
          layout,
          epilogue: "relu",
        })
      )
    ),
    // Tiles of 64 to 256 rows of A; of 256 x 168, whose products have two unequal parts.
    matmul.point({ m: 512, n: 11008, k: 4096, type: "bf16", layout: "nt" }),
    ...(["nn", "nt"] as const).map((layout) =>
      matmul.point({ m: 256, n: 13312, k: 4096, type: "bf16", layout })
    ),
  ];
}

/** Its tile, if it has one. */
export const tile = (
  { defines: { BM, BN, BK, WARPS, STAGES } }: Build,
): string | undefined =>
  BM === undefined ? undefined : [BM, BN, BK, WARPS, STAGES].join(" ");

/** Its config of dot, if it is one. */
export const dotted = (
  { defines: { LAYOUT, ROWS, THREADS, COLS, UNROLL, CLUSTER } }: Build,
): string | undefined =>
  ROWS === undefined
    ? undefined
    : [LAYOUT, ROWS, THREADS, COLS, UNROLL, CLUSTER].join(" ");

/**
 * Of the one-launch kernels the largest tile with the most steps in flight of each way to
 * load, to store and to meet: what takes most registers. fp16 differs from bf16 by a mnemonic.
 */
function largest(all: readonly Build[]): Build[] {
  const size = ({ defines: { BM, BN, STAGES } }: Build) =>
    1000 * Number(BM) * Number(BN) + Number(STAGES);
  const best = new Map<string, Build>();
  for (const b of all) {
    const { TYPE, LAYOUT, EXCHANGE, ...rest } = b.defines;
    if (TYPE === "f16") continue;
    const { PRIVATE, FFMA, WARPGROUPS, TENSOR } = rest;
    const kind = [
      ...[TYPE, LAYOUT, EXCHANGE, PRIVATE, FFMA, WARPGROUPS, TENSOR],
    ].join(" ");
    const known = best.get(kind);
    if (!known || size(b) > size(known)) best.set(kind, b);
  }
  return [...best.values()];
}

/** Of columns-k with rows of A as the rows of products the widest tile of each height and layout. */
function widest(all: readonly Build[]): Build[] {
  const best = new Map<string, Build>();
  for (const b of all) {
    const { BM, BN, LAYOUT } = b.defines;
    const kind = `${LAYOUT} ${BM}`;
    const known = best.get(kind);
    if (!known || Number(BN) > Number(known.defines.BN)) best.set(kind, b);
  }
  return [...best.values()];
}

/** One of each kind, and the extreme tiles. */
function chosen(all: readonly Build[]): Build[] {
  const joined = largest(all.filter((b) => b.defines.EXCHANGE !== undefined));
  const rowsOfA = all.filter((b) => b.defines.TOKEN_ROWS !== undefined);
  const others = all.filter((b) => {
    if (b.defines.EXCHANGE !== undefined || rowsOfA.includes(b)) return false;
    const [tiled, rows] = [tile(b), dotted(b)];
    // Kernels that overlap differ by an instruction: one tile of them will do.
    const tiles = b.defines.PDL ? EXTREMES.slice(0, 1) : EXTREMES;
    return (tiled === undefined || tiles.includes(tiled)) &&
      (rows === undefined || DOTS.includes(rows));
  });
  return [...others, ...joined, ...widest(rowsOfA)];
}

/** Every kind of shape in one type or another; in each type some that every kernel takes. */
const CHECKED = {
  bf16: [
    "1x16x128",
    "16x16x256",
    "17x33x129",
    "64x48x1024",
    "5x24x251",
    "5x12x96",
  ],
  f16: ["3x5x7", "5x24x251", "16x16x256", "64x48x1024", "48x40x512"],
  f32: [
    "1x16x128",
    "16x16x256",
    "64x48x1024",
    "31x65x250",
    "17x64x256",
    "17x33x512",
  ],
};

/** The cases. */
export const cases: OpCases<MatmulPoint> = {
  long: [
    ...mixed,
    ...TYPES.flatMap((type) =>
      EPILOGUES.flatMap((epilogue) => [
        matmul.point({ m: 64, n: 64, k: 8192, type, epilogue }),
        matmul.point({ m: 16, n: 16, k: 32768, type, epilogue }),
      ])
    ),
  ],
  larger: [
    ...TYPES.flatMap((type) => [
      matmul.point({ m: 64, n: 64, k: 2048, type, epilogue: "relu" }),
      matmul.point({ m: 48, n: 48, k: 1333, type, epilogue: "bias" }),
      matmul.point({ m: 135, n: 150, k: 777, type, lda: 778, layout: "nt" }),
    ]),
    ...mixed,
  ],
  references: [6, 18, 35].map((place) => matmul.edgeCases[place]!),
  checked: {
    cuda: matmul.edgeCases.filter(({ m, n, k, type }) =>
      CHECKED[type].includes([m, n, k].join("x"))
    ),
  },
  unsupported:
    /no split of K|no epilogue|slices of 16 leave some without|slices of 32 leave some|stored by columns|IEEE fp32|by 16 bytes|registers for 8 rows|16-bit operands|layout nt|multiple of 64|for a relu|are not read and written|: it takes one type$|: it writes rows without gaps$|^the library is asked for no product of A|^MPSMatrixMultiplication multiplies/,
  built: points(),
  chosen,
};
