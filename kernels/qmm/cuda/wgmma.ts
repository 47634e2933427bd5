/**
 * {@linkcode qmm} by products of warpgroups: tiles of up to 256 tokens, for which each weight is
 * decoded once.
 *
 * @module
 */

import { isChannel } from "../../../bench/formats/quant_format.ts";
import { type DeviceInfo, tensorMapOn } from "../../../bench/device/device.ts";
import { type Arg, EARLY, type Memory } from "../../../bench/device/queue.ts";
import { grid } from "../../../bench/model/grid.ts";
import type { Rules } from "../../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../../bench/model/kernel_spec.ts";
import { demandAligned, launched } from "../../common/launch.ts";
import {
  emptySlices,
  fitsGrid,
  fitsMemory,
  nextPowerOfTwo,
  noWgmma,
  padding,
} from "../../common/rules.ts";
import { qmm } from "../op.ts";
import { type QmmPoint, weightMemory } from "../point.ts";
import { formatMacros } from "./qmm.ts";
import { predictWgmma } from "./wgmma_model.ts";
import {
  CHUNK,
  copiedRow,
  hasTable,
  isEven,
  lastOf,
  scaleBytes,
  sharedBytes,
  spanOf,
  stagesOf,
  STEP,
  stepsOf,
  threadsOf,
  tilesOf,
  unitOf,
  type WgmmaConfig,
  widthOf,
} from "./wgmma_tile.ts";

/** Tokens for whose sums so many warpgroups, from none on, have registers. */
const MOST_TOKENS = [256, 256, 256, 128, 64];

const rules: Rules<QmmPoint, WgmmaConfig> = {
  tokens({ m }, { BM }) {
    const most = nextPowerOfTwo(m, 16);
    if (BM > most) return padding("BM", BM, most);
    const tiles = Math.ceil(m / BM);
    if (BM < 64 && tiles > 1 || BM < 128 && tiles > 8) {
      return `BM=${BM} decodes the weights ${tiles} times`;
    }
    // A tile that is no power of two, where it saves none.
    const other = 2 ** Math.floor(Math.log2(BM));
    return other === BM || tiles < Math.ceil(m / other) &&
        (tiles > 1 || nextPowerOfTwo(m, 16) > BM)
      ? undefined
      : `BM=${BM} has as many tiles of M=${m} as ${other} has`;
  },
  rows: ({ n }, { ROWS }) => padding("ROWS", ROWS, nextPowerOfTwo(n, 64)),
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
    return emptySlices(Math.ceil(point.k / unitOf(point)), {
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

/** The stages of x, as wgmma.cu has them. */
function stageMacros(point: QmmPoint, config: WgmmaConfig) {
  const { stages, steps, late } = stagesOf(point, config);
  return { STAGES: stages, STAGE_STEPS: steps, LATE: Number(late) };
}

/** How K is cut into parts, and whether copies need bounds checks. */
function evenMacros(point: QmmPoint, config: WgmmaConfig) {
  const even = isEven(point, config);
  return { EVEN: Number(even), LAST: even ? lastOf(point, config) : 0 };
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
      ...stageMacros(point, config),
      UNIT: unitOf(point),
      NN: Number(!point.transposed),
      ...evenMacros(point, config),
      TABLE: Number(hasTable(point, config)),
    },
  }),
  launch(site) {
    const { point, config, operands, device } = site;
    const { m, n, k, bits, group, type, transposed } = point;
    const { x, w, scales, biases, y } = operands;
    demandAligned(x!, "x", "tensor maps");
    if (!transposed || isEven(point, config)) {
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
