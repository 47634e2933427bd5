/**
 * The tiles of the Metal kernels, the rules that they obey, and how long they may take.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Rule } from "../../../bench/model/kernel.ts";
import type { MatmulPoint } from "../point.ts";
import { LEAST_SLICE } from "../splits.ts";
import { covering } from "../../common/tile_cover.ts";

/** What a product is compiled for. */
export interface MetalTile {
  /** Rows and columns of the output that a threadgroup owns. */
  readonly BM: number;
  readonly BN: number;
  /** The K step that is copied and multiplied as one. */
  readonly BK: number;
  /** Simdgroups of 32 lanes along M and along N. */
  readonly SM: number;
  readonly SN: number;
}

/** A tile and the number of K slices. */
export type MetalConfig = Values & MetalTile & { readonly SPLIT: number };

type Row = readonly [number, number, number, number, number];

// BM, BN, BK, SM, SN.
const ROWS: readonly Row[] = [
  [16, 16, 64, 2, 2],
  [16, 16, 32, 1, 2],
  [8, 32, 64, 1, 4],
  [8, 64, 32, 1, 4],
  [16, 32, 32, 2, 2],
  [16, 32, 64, 2, 2],
  [16, 64, 32, 1, 4],
  [32, 16, 64, 2, 2],
  [32, 32, 16, 2, 2],
  [32, 32, 32, 2, 2],
  [32, 32, 64, 2, 2],
  [32, 64, 32, 2, 2],
  [64, 32, 32, 2, 2],
  [64, 64, 16, 2, 2],
  [64, 64, 32, 2, 2],
];

/** Tiles for small outputs: the least work a threadgroup first. */
export const metalTiles: readonly MetalTile[] = ROWS.map((
  [BM, BN, BK, SM, SN],
) => ({ BM, BN, BK, SM, SN }));

/** Threads of a threadgroup. */
export function metalThreads({ SM, SN }: MetalTile): number {
  return 32 * SM * SN;
}

/** Bytes of threadgroup memory: both tiles, their rows padded by 16 bytes. */
export function metalRoom(
  { BM, BN, BK }: Omit<MetalTile, "SM" | "SN">,
  { type, layout }: Pick<MatmulPoint, "type" | "layout">,
): number {
  const pad = 16 / BYTES[type];
  const b = layout === "nt" ? BN * (BK + pad) : BK * (BN + pad);
  return BYTES[type] * (BM * (BK + pad) + b);
}

/** The rules of a config, by name. */
export const metalRules = {
  split: ({ k }, { SPLIT }) =>
    k % SPLIT === 0 ? undefined : `K=${k} is no multiple of SPLIT=${SPLIT}`,
  slice: ({ k }, { SPLIT }) =>
    SPLIT === 1 || k / SPLIT >= LEAST_SLICE
      ? undefined
      : `a slice of ${k / SPLIT} is shorter than ${LEAST_SLICE}`,
  shared: (point, tile, { sharedBytes }) => {
    const bytes = metalRoom(tile, point);
    return bytes <= sharedBytes
      ? undefined
      : `${bytes} bytes of threadgroup memory, a threadgroup may have ${sharedBytes}`;
  },
  tile: ({ m, n }, { BM, BN }) => {
    if (BM > covering(m)) return `more than half of BM=${BM} would be padding`;
    if (BN > Math.max(32, covering(n))) {
      return `more than half of BN=${BN} would be padding`;
    }
    return undefined;
  },
  step: ({ k }, { BK, SPLIT }) =>
    BK <= Math.max(32, covering(k / SPLIT))
      ? undefined
      : `more than half of BK=${BK} would be padding`,
} satisfies Record<string, Rule<MatmulPoint, MetalConfig>>;

/** Of one core of an M3 Max, a microsecond: bytes from memory, and fp32 flops. */
const CORE = { bytes: 10e3, flops: 0.35e6 };
/** Threads that a core holds so that others' loads are hidden. */
const RESIDENT = 1024;

/**
 * A rough time of a config in microseconds, of use only to order configs: the work of the
 * busiest core, padding included, and the partial sums out and in.
 */
export function metalPredict(
  { m, n, k, type }: MatmulPoint,
  config: MetalConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const { BM, BN, BK, SPLIT } = config;
  const groups = Math.ceil(m / BM) * Math.ceil(n / BN) * SPLIT;
  const steps = Math.ceil(k / SPLIT / BK);
  const beside = RESIDENT / metalThreads(config);
  const perCore = Math.ceil(groups / units);
  const bytes = (BM + BN) * BK * steps * BYTES[type];
  const flops = 2 * BM * BN * BK * steps;
  const work = perCore * Math.max(bytes / CORE.bytes, flops / CORE.flops);
  // A barrier and a round trip of loads a step, which others hide.
  const waits = 0.6 * steps * Math.ceil(perCore / beside);
  const sums = SPLIT > 1 ? 2 * SPLIT * m * n * 4 / (units * CORE.bytes) : 0;
  return Math.max(work, waits) + sums + (SPLIT > 1 ? 3 : 0);
}
