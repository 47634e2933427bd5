/**
 * A model of the time that a config of wgmma.cu takes.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import { CLOCKS_PER_US } from "../../common/sm90.ts";
import type { QmmPoint } from "../point.ts";
import {
  hasTable,
  isEven,
  scaleBytes,
  spanOf,
  stagesOf,
  STEP,
  stepsOf,
  threadsOf,
  tilesOf,
  type WgmmaConfig,
} from "./wgmma_tile.ts";

/** Constants of `predictWgmma()`: clocks are for 64 of K, times in µs. */
interface Model {
  /** µs before the first block. */
  readonly start: number;
  /** µs more if PLACES is 2. */
  readonly few: number;
  /** µs of each wave. */
  readonly wave: number;
  /** µs for each MB of the codes that all blocks request first. */
  readonly fill: number;
  /** Clocks of products for each token and warpgroup. */
  readonly products: number;
  /** Clocks in which a scheduler issues the instructions of a warp, and in which a warp alone executes them. */
  readonly issue: number;
  readonly chain: number;
  /** Clocks of each request for a row of codes or of scales. */
  readonly request: number;
  /** Bytes that the L2 cache delivers in a clock. */
  readonly cache: number;
  /** Limits are added as a norm of this power: with 1 they add up, with more the greatest counts. */
  readonly power: number;
  /** What storing a tile's fp32 sums takes, over moving them at four bytes a clock. */
  readonly store: number;
  /** What adding the sums of a block's sets takes: µs, and as `store`. */
  readonly sets: readonly [number, number];
  /** The same for the blocks of a cluster. */
  readonly cluster: readonly [number, number];
}

/**
 * Fitted to times on an H200: of x · Wᵀ to 1168 configs of 36 points (affine 4/64; the first config is
 * 0.9 % slower than the fastest in the mean, the best of the first four 0.1 %), of x · W to the
 * fastest configs of eight points (`docs/notes/2026-11-30-qmm-steps.md`), before copies had no bounds checks.
 */
const MODELS = {
  nt: {
    start: 3.8,
    few: -0.2,
    wave: 0,
    fill: 0.34,
    products: 2.18,
    issue: 300,
    chain: 490,
    request: 0,
    cache: 8200,
    power: 4,
    store: 0.1,
    sets: [0, 1 / 8],
    cluster: [0, 1 / 40],
  },
  nn: {
    start: 4,
    // Pairs of scales are made while another span is copied and one is read.
    few: 0.3,
    wave: 1.2,
    fill: 0,
    products: 2,
    // Other warps make the pairs of scales.
    issue: 150,
    chain: 300,
    request: 2,
    cache: 7900,
    power: 3,
    store: 1 / 28,
    sets: [0.4, 1 / 17],
    cluster: [0.2, 1 / 14],
  },
} satisfies Record<string, Model>;

/**
 * The share of a step's time that is left by the steps of a stage of x: measured for two; with 0.85 for
 * four, at 8192 x 8192 with M of 20 to 32 the first four configs are without one that takes 9 % longer.
 */
const SHARES: Readonly<Record<number, number>> = { 1: 1, 2: 0.92, 4: 0.85 };

/**
 * The share of a step's instructions that is left where copies of weights have no bounds checks. With the limits
 * that these do not change, the loop took 0.91 to 0.97 of its time at ten tiles.
 */
const EVEN_SHARE = 0.9;

/** How many instructions decoding takes, over affine weights of 4 bits. */
function workOf(point: QmmPoint, config: WgmmaConfig): number {
  const { bits, mode, type, transposed } = point;
  if (mode === "affine") return [2, 4].includes(bits) ? 1 : 1.15;
  if (!transposed) return 1.4;
  if (mode === "mxfp8") return type === "f16" ? 1.05 : 1.4;
  return (hasTable(point, config) ? 1.05 : 1.35) +
    (mode === "nvfp4" ? 0.05 : 0);
}

/**
 * A rough time in µs, of use to order configs: launch, first data, steps at a rate that tensor
 * cores, issue, a warp's own waits and the second-level cache limit together, and what sums take.
 */
export function predictWgmma(
  point: QmmPoint,
  config: WgmmaConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const { bits, group, mode, transposed } = point;
  const { BM, ROWS, SETS, PLACES, CLUSTER } = config;
  const model: Model = MODELS[transposed ? "nt" : "nn"];
  const [x, y] = tilesOf(point, config);
  const blocks = x * y * CLUSTER;
  // Clusters of more than two leave some multiprocessors without one.
  const room = CLUSTER > 2 ? 0.89 * units : units;
  const active = Math.min(blocks, room);
  const arrays = mode === "affine" ? 2 : 1;
  const weights = bits / 8 + arrays * scaleBytes(point) / group;
  const warpgroups = threadsOf(config) / 128;
  const bytes = SETS * (BM * 128 + ROWS * STEP * weights);
  const waits = SHARES[stagesOf(point, config).steps]! *
    (isEven(point, config) ? EVEN_SHARE : 1);
  const limits = [
    model.products * BM * warpgroups,
    model.issue * waits * workOf(point, config) * warpgroups,
    model.chain * waits * (transposed ? workOf(point, config) : 1),
    model.request * STEP * (1 + arrays) * SETS,
    bytes * active / model.cache,
  ];
  const clocks = limits.reduce((sum, limit) => sum + limit ** model.power, 0) **
    (1 / model.power);
  const loop = stepsOf(point, config) * clocks / CLOCKS_PER_US;
  const first = active * SETS * ROWS * (PLACES - 1) * spanOf(point) * weights /
    1e6;
  const tile = BM * ROWS * 4 / CLOCKS_PER_US;
  const sets = SETS > 1
    ? model.sets[0] + tile * (1 - 1 / SETS) * model.sets[1]
    : 0;
  const cluster = CLUSTER > 1
    ? model.cluster[0] + tile * (1 - 1 / CLUSTER) / SETS * model.cluster[1]
    : 0;
  return model.start + (PLACES === 2 ? model.few : 0) +
    Math.ceil(blocks / room) *
      (model.wave + model.fill * first + loop + tile * model.store + sets +
        cluster);
}
