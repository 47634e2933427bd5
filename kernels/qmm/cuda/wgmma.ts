/**
 * x · Wᵀ of {@linkcode qmm} by products of warpgroups: tiles of up to 256 tokens, for which each
 * weight is decoded once.
 *
 * @module
 */

import { isChannel } from "../../../bench/formats/quant_format.ts";
import { type DeviceInfo, tensorMapOn } from "../../../bench/device/device.ts";
import { type Arg, EARLY, type Memory } from "../../../bench/device/queue.ts";
import { grid, type Values } from "../../../bench/model/grid.ts";
import type { Rules } from "../../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../../bench/model/kernel_spec.ts";
import { demandAligned, launched } from "../../common/launch.ts";
import {
  allHaveSome,
  covering,
  fitsGrid,
  fitsMemory,
  noWgmma,
  padding,
} from "../../common/rules.ts";
import { BLOCK_SHARED_BYTES, CLOCKS_PER_US } from "../../common/sm90.ts";
import { qmm } from "../op.ts";
import { blockOf, type QmmPoint, weightMemory } from "../point.ts";
import { formatMacros } from "./qmm.ts";

/** The tunables of wgmma.cu. */
export type WgmmaConfig = Values & {
  /** Tokens of a tile. */
  readonly BM: number;
  /** Rows of weights of a tile, or columns: 64 for each warpgroup of a set. */
  readonly ROWS: number;
  /** Sets of warpgroups, each with a part of K. */
  readonly SETS: number;
  /** Spans of 256 of K that a warp has room for, or of 128 of x · W that a set has. */
  readonly PLACES: number;
  /** Blocks of a cluster, each with a part of K. */
  readonly CLUSTER: number;
};

/** Elements of K in a step. */
const STEP = 64;
/** Elements of K in a span of weights. */
function spanOf({ transposed }: QmmPoint): number {
  return transposed ? 256 : 128;
}
/** Steps of x beyond which more in flight gain nothing. */
const MOST_STAGES = 8;

/** Bytes of a row's scales that a tensor map of x · W brings. */
const CHUNK = 16;

/** Bits of a code of x · W where it is read: codes across words are unpacked before. */
function widthOf({ bits }: QmmPoint): number {
  return [2, 4, 8].find((width) => width >= bits)!;
}

/** Bytes of a row of a tile's codes of x · W, as they are copied. */
function copiedRow({ bits }: QmmPoint, { ROWS }: WgmmaConfig): number {
  return Math.ceil(ROWS * bits / 8 / CHUNK) * CHUNK;
}

/** Bytes of a scale. */
function scaleBytes({ mode }: QmmPoint): number {
  return mode === "affine" ? 2 : 1;
}

/** Parts of K start at multiples of it: at whole groups, whole words of scales and of codes. */
function unitOf(point: QmmPoint): number {
  if (!point.transposed) return STEP;
  const words = 4 / scaleBytes(point) * blockOf(point).GROUP;
  return Math.max(point.bits % 2 ? 2 * STEP : STEP, words);
}

/** Threads that multiply. */
function threadsOf({ ROWS, SETS }: WgmmaConfig): number {
  return 2 * ROWS * SETS;
}

/** Tiles along N and along M. */
function tilesOf(
  { m, n }: QmmPoint,
  { ROWS, BM }: WgmmaConfig,
): readonly [number, number] {
  return [Math.ceil(n / ROWS), Math.ceil(m / BM)];
}

/** Steps of the set that has the most. */
function stepsOf(point: QmmPoint, { SETS, CLUSTER }: WgmmaConfig): number {
  const unit = unitOf(point);
  const units = Math.ceil(Math.ceil(point.k / unit) / SETS / CLUSTER);
  return Math.ceil(Math.min(units * unit, point.k) / STEP);
}

/** Bytes of the rings of weights, of a step of x of all sets, and of mailboxes. */
function partsOf(point: QmmPoint, config: WgmmaConfig) {
  const { BM, ROWS, SETS, PLACES, CLUSTER } = config;
  const { bits, mode } = point;
  const { GROUP: group } = blockOf(point);
  const arrays = mode === "affine" ? 2 : 1;
  const span = spanOf(point);
  const width = widthOf(point);
  // A warp's rows of codes have 16 bytes more, so that eight of them start in different banks; a
  // row of x · W has a chunk of scales, or one.
  const scales = isChannel(point) ? scaleBytes(point) : CHUNK;
  const place = point.transposed
    ? 16 * (span * bits / 8 + 16 + arrays * span / group * scaleBytes(point))
    : span * (copiedRow(point, config) + arrays * scales) +
      // Pairs of rows' scales of each group of columns.
      span / 2 * 4 * arrays * Math.max(1, ROWS / group);
  // What is made of the scales of two steps of a warp's rows; unpacked codes of two spans.
  const made = !point.transposed
    ? width === bits ? 0 : 2 * span * ROWS * width / 8
    : mode === "affine"
    ? 0
    : 128 * STEP / group;
  const ring = PLACES * place + made;
  const letters = Math.ceil(BM / 8 / SETS);
  const letter = 16 * threadsOf(config);
  return {
    // Boxes of codes of x · W start at swizzle atoms.
    weights: point.transposed
      ? threadsOf(config) / 32 * ring
      : SETS * Math.ceil(ring / 1024) * 1024,
    barriers: point.transposed ? 0 : 24 * SETS * PLACES,
    step: SETS * BM * 128,
    sums: (SETS - 1) * letters * letter + BM * (ROWS + 8) * 2,
    mail: CLUSTER > 1
      ? (CLUSTER - 1) * Math.ceil(letters / CLUSTER) * letter + 16
      : 0,
  };
}

/** Stages of x, and whether mailboxes take the place of what was copied, but for their barrier. */
export function stagesOf(
  point: QmmPoint,
  config: WgmmaConfig,
): { readonly stages: number; readonly late: boolean } {
  const { weights, step, mail, barriers } = partsOf(point, config);
  const left = BLOCK_SHARED_BYTES - weights - barriers -
    16 * config.SETS * MOST_STAGES;
  const most = Math.min(MOST_STAGES, stepsOf(point, config));
  const beside = Math.floor((left - mail) / step);
  // Waiting for the cluster costs more than a stage brings, unless there are few.
  const late = config.CLUSTER > 1 && beside < Math.min(4, most);
  const fit = late ? Math.floor((left - 16) / step) : beside;
  return { stages: Math.max(2, Math.min(fit, most)), late };
}

/** Bytes of shared memory, as wgmma.cu lays it out. */
export function sharedBytes(point: QmmPoint, config: WgmmaConfig): number {
  const { weights, step, sums, mail, barriers } = partsOf(point, config);
  const { stages, late } = stagesOf(point, config);
  const beside = stages * step + weights - (late ? mail - 16 : 0);
  return Math.max(beside, sums) + mail + 16 * config.SETS * stages + barriers;
}

/** Tokens for whose sums so many warpgroups, from none on, have registers. */
const MOST_TOKENS = [256, 256, 256, 128, 64];

const rules: Rules<QmmPoint, WgmmaConfig> = {
  tokens({ m }, { BM }) {
    const most = covering(m, 16);
    if (BM > most) return padding("BM", BM, most);
    const tiles = Math.ceil(m / BM);
    if (BM < 64 && tiles > 1 || BM < 128 && tiles > 8) {
      return `BM=${BM} decodes the weights ${tiles} times`;
    }
    // A tile that is no power of two, where it saves none.
    const other = 2 ** Math.floor(Math.log2(BM));
    return other === BM || tiles < Math.ceil(m / other) &&
        (tiles > 1 || covering(m, 16) > BM)
      ? undefined
      : `BM=${BM} has as many tiles of M=${m} as ${other} has`;
  },
  rows: ({ n }, { ROWS }) => padding("ROWS", ROWS, covering(n, 64)),
  registers(_, config) {
    const { BM } = config;
    const warpgroups = threadsOf(config) / 128;
    const most = MOST_TOKENS[warpgroups]!;
    return BM <= most
      ? undefined
      : `${warpgroups} warpgroups have registers for the sums of ${most} tokens, not of ${BM}`;
  },
  slices(point, config, { units }) {
    const { SETS, CLUSTER } = config;
    const [x, y] = tilesOf(point, config);
    const fewer = x * y * (CLUSTER - 1);
    if (fewer >= units) {
      return `${fewer} blocks fill ${units} multiprocessors without the last of ${CLUSTER} slices`;
    }
    return allHaveSome(Math.ceil(point.k / unitOf(point)), {
      slices: SETS * CLUSTER,
      slice: 1,
    });
  },
  sets(point, config) {
    const { SETS, CLUSTER } = config;
    return SETS === 1 || point.k >= SETS * CLUSTER * spanOf(point)
      ? undefined
      : `less than a span of K=${point.k} for each of ${SETS} x ${CLUSTER} parts`;
  },
  places(point, config) {
    const spans = Math.ceil(stepsOf(point, config) * STEP / spanOf(point));
    return config.PLACES === 2 || config.PLACES <= spans
      ? undefined
      : `PLACES=${config.PLACES} for ${spans} spans of a part of K`;
  },
  shared: fitsMemory(sharedBytes),
  grid: fitsGrid(tilesOf),
};

/** Constants of `predictWgmma()`: clocks are for 64 of K, times in µs. */
interface Model {
  /** Before the first block. */
  readonly start: number;
  /** More where there are two places only. */
  readonly few: number;
  /** Of each wave. */
  readonly wave: number;
  /** To bring a MB of the codes that all blocks ask for first. */
  readonly fill: number;
  /** Clocks of products, for a token and warpgroup. */
  readonly products: number;
  /** Clocks in which a scheduler issues what a warp does, and in which a warp alone does it. */
  readonly issue: number;
  readonly chain: number;
  /** Clocks of a request for a row of codes or of scales. */
  readonly request: number;
  /** Bytes a clock that the second-level cache gives. */
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
 * fastest configs of eight points (`docs/notes/2026-11-30-qmm-steps.md`).
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

/** How many instructions decoding takes, over affine weights of 4 bits. */
function workOf({ bits, mode }: QmmPoint): number {
  return mode !== "affine" ? 1.4 : [2, 4].includes(bits) ? 1 : 1.15;
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
  const limits = [
    model.products * BM * warpgroups,
    model.issue * workOf(point) * warpgroups,
    model.chain * (transposed ? workOf(point) : 1),
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

/** Returns why x · W of a point cannot be computed. */
function noColumns(point: QmmPoint): string | undefined {
  const { n, k, bits, group } = point;
  if (k % 8) return `K=${k}: tensor maps need rows of x of whole 16 bytes`;
  const bytes = isChannel(point) ? 0 : n / group * scaleBytes(point);
  return n * bits / 8 % 16 || bytes % 4
    ? `N=${n}: its copies need rows of whole 16 bytes of codes and 4 of scales`
    : undefined;
}

/** Whether tensor maps bring scales of x · W: rows of whole chunks that start at one. */
function hasChunks({ point, operands }: Context<QmmPoint, WgmmaConfig>) {
  const { scales, biases } = operands;
  return point.n / point.group * scaleBytes(point) % CHUNK === 0 &&
    [scales!, biases ?? scales!].every(({ address }) =>
      address % BigInt(CHUNK) === 0n
    );
}

/** The maps of codes of x · W, and of scales and biases, by bytes. */
function weightMaps(site: Context<QmmPoint, WgmmaConfig>): Arg[] {
  const { device, point, config, operands } = site;
  const { n, k, bits, group } = point;
  const { w, scales, biases } = operands;
  const map = (memory: Memory, columns: number, box: number, rest = {}) =>
    tensorMapOn(device, memory, {
      type: "u8",
      dims: [columns, k],
      strides: [columns],
      box: [box, spanOf(point)],
      promotion: 256,
      ...rest,
    });
  const row = copiedRow(point, config);
  const swizzle = Math.min(128, row) as 32 | 64 | 128;
  const codes = widthOf(point) === bits
    ? map(w!, n * bits / 8, swizzle, swizzle > 16 ? { swizzle } : {})
    : map(w!, n * bits / 8, row);
  if (!hasChunks(site)) return [codes, codes, codes];
  const of = (memory: Memory) =>
    map(memory, n / group * scaleBytes(point), CHUNK);
  return [codes, of(scales!), of(biases ?? scales!)];
}

/** Tokens of tiles, whatever the shape. */
const TOKENS = [16, 32, 64, 96, 128, 176, 256];

/** Tokens of tiles of `ROWS` rows of weights whose blocks are one to three whole waves. */
function waveTokens(
  { m, n }: QmmPoint,
  ROWS: number,
  { units }: Pick<DeviceInfo, "units">,
): readonly number[] {
  return [1, 2, 3].map((waves) =>
    Math.floor(waves * units / Math.ceil(n / ROWS))
  ).filter((tiles) => tiles > 0)
    .map((tiles) => Math.ceil(m / tiles / 8) * 8)
    .filter((BM) => BM >= 64 && BM <= 256);
}

/** Every config of a point, legal or not. */
function* configs(
  point: QmmPoint,
  info: Pick<DeviceInfo, "units">,
): Generator<WgmmaConfig> {
  const { transposed } = point;
  const sets = [
    ...[[64, 1], [64, 2], [64, 3], [64, 4]] as const,
    ...[[128, 1], [128, 2]] as const,
    // Short rows of codes are copied more slowly.
    ...(transposed ? [] : [[256, 1]] as const),
  ];
  for (const [ROWS, SETS] of sets) {
    for (
      const { BM, PLACES, CLUSTER } of grid({
        BM: [...new Set([...TOKENS, ...waveTokens(point, ROWS, info)])],
        PLACES: transposed ? [2, 3] : [2, 3, 4],
        CLUSTER: [1, 2, 3, 4, 5, 8],
      })
    ) yield { BM, ROWS, SETS, PLACES, CLUSTER };
  }
}

/** Tiles of warpgroups. */
export const qmmWgmma: Kernel<QmmPoint> = launched<QmmPoint, WgmmaConfig>(qmm, {
  name: "qmm-wgmma",
  backend: "cuda",
  idea: "wgmma, weights decoded in registers, K over warpgroups and a cluster",
  unsupported: (point, info) =>
    noWgmma(info) ?? (point.transposed ? undefined : noColumns(point)),
  configs,
  rules,
  predict: predictWgmma,
  startsEarly: () => true,
  build: (point, config) => ({
    source: new URL("./wgmma.cu", import.meta.url),
    defines: {
      ...formatMacros(point),
      ...config,
      STAGES: stagesOf(point, config).stages,
      LATE: Number(stagesOf(point, config).late),
      UNIT: unitOf(point),
      NN: Number(!point.transposed),
    },
  }),
  launch(site) {
    const { point, config, operands, device } = site;
    const { m, n, k, bits, group, type, transposed } = point;
    const { x, w, scales, biases, y } = operands;
    demandAligned(x!, "x", "tensor maps");
    if (!transposed) {
      demandAligned(w!, "w", "its copies");
      demandAligned(scales!, "scales", "its copies", 4n);
      demandAligned(biases ?? scales!, "biases", "its copies", 4n);
    }
    const starts = (bytes: number, of: bigint, every: number) =>
      bytes % every === 0 && of % BigInt(every) === 0n;
    const wide = starts(k * bits / 8, w!.address, 16);
    const whole = [scales!, biases ?? scales!].every(({ address }) =>
      starts(k / group * scaleBytes(point), address, 4)
    );
    return {
      entry: "wgmma_qmm",
      args: [
        tensorMapOn(device, x!, {
          type,
          rows: m,
          columns: k,
          ld: k,
          boxRows: config.BM,
          boxColumns: STEP,
        }),
        ...(transposed ? [] : weightMaps(site)),
        ...[...weightMemory(operands), y],
        ...[m, n, k],
        transposed ? Number(wide) + 2 * Number(whole) : Number(hasChunks(site)),
        EARLY,
      ],
      shape: {
        grid: [config.CLUSTER, ...tilesOf(point, config)],
        block: [threadsOf(config) + 128, 1, 1],
        cluster: config.CLUSTER,
        sharedBytes: sharedBytes(point, config),
      },
    };
  },
});
