/**
 * The CUDA kernels of {@linkcode scaledMatmul}: cuBLASLt, by its first choice and by a search,
 * and products of warpgroups.
 *
 * @module
 */

import { type DeviceInfo, tensorMapOn } from "../../../bench/device/device.ts";
import { EARLY, type Memory } from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Rule } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { fusedKernels } from "../../common/blas.ts";
import { launched } from "../../common/launch.ts";
import { noWgmma } from "../../common/rules.ts";
import { CLOCKS_PER_US } from "../../common/sm90.ts";
import {
  emptyBlocks,
  evenRows,
  ownsWholeSlots,
  type RingConfig,
  ringConfigs,
  ringDefines,
  type RingNeeds,
  ringRules,
  ringShape,
  type Sizes,
  stagesOf,
  tilingOf,
  waveTiles,
  WGMMA_ROWS,
} from "../../common/wgmma_ring.ts";
import { scaledMatmul } from "../op.ts";
import { BLOCK, type ScaledPoint } from "../point.ts";

/** The tunables. */
type ScaledConfig = RingConfig & {
  /** 1: the sums of a step are added while the products of the next one are under way. */
  readonly AHEAD: number;
  /** 1: A is the 64-row operand of wgmma, and not B. Block scales decide it by M alone. */
  readonly TOKEN_ROWS?: 1;
};

/** Returns whether block scales are read for the rows of products: with M > 64 they are A's. */
function hasRowScales({ m, scale }: Pick<ScaledPoint, "m" | "scale">): boolean {
  return scale === "block128" && m > WGMMA_ROWS;
}

/** Returns whether A is the 64-row operand of wgmma, and not B (`TOKEN_ROWS` of wgmma.cu). */
function hasTokenRows(
  point: ScaledPoint,
  { TOKEN_ROWS }: Pick<ScaledConfig, "TOKEN_ROWS">,
): boolean {
  return point.scale === "block128" ? hasRowScales(point) : TOKEN_ROWS === 1;
}

/**
 * The sizes as a {@linkcode RingConfig} counts them: `n` is the rows of the matrix that BM divides, and
 * `m` those of the other, so that the two are exchanged where {@linkcode hasTokenRows}.
 */
function sidesOf(
  point: ScaledPoint,
  config: Pick<ScaledConfig, "TOKEN_ROWS">,
): Sizes {
  const { m, n, k } = point;
  return hasTokenRows(point, config) ? { m: n, n: m, k } : { m, n, k };
}

/** Returns whether threads read block scales for each column of a product. */
function hasColumnScales(point: ScaledPoint): boolean {
  return point.scale === "block128" && !hasRowScales(point);
}

/** Whether C is stored through the ring, as `THROUGH_RING` of wgmma.cu says. */
function isThroughRing(point: ScaledPoint, config: ScaledConfig): boolean {
  const { BM, BN, WARPS, CLUSTER } = config;
  const slots = BM * BN / 16 / WARPS / 8;
  return CLUSTER === 1 ||
    hasTokenRows(point, config) && ownsWholeSlots(slots, CLUSTER);
}

function needsOf(point: ScaledPoint, config: ScaledConfig): RingNeeds {
  const { BM, BN, BK, WARPS, CLUSTER, AHEAD } = config;
  const ofBlocks = point.scale === "block128";
  const { slice } = tilingOf(sidesOf(point, config), config);
  const tokens = hasTokenRows(point, config) ? BM : BN;
  const scales = ofBlocks ? slice / BLOCK * tokens : BM + BN;
  // A share is whole units of four sums.
  const sums = CLUSTER > 1
    ? CLUSTER * Math.ceil(BM * BN / 4 / CLUSTER) * 16 + 16
    : 0;
  return {
    // A step has two barriers.
    step: (BM + BN) * BK + 16,
    beside: scales * BYTES.f32 + sums,
    // The accumulators, those of one or two steps, and about what else nvcc 13.0 allocates: more
    // where scales are loaded by columns.
    registers: BM * BN / 32 / WARPS * (2 + AHEAD) +
      (hasColumnScales(point) ? 36 : 24),
  };
}

const rules = {
  tile(_, { BM, BN, BK, WARPS }) {
    const columns = BM * BN / 16 / WARPS;
    return BM % WGMMA_ROWS === 0 && BK % BLOCK === 0 && WARPS % 4 === 0 &&
        WARPS * 16 >= BM && BM <= 256 && BN <= 256 && BN % 8 === 0 &&
        columns % 8 === 0
      ? undefined
      : `${WARPS} warps have no whole products of ${BM} x ${BN}`;
  },
  scales(point, config) {
    const { BM, BN } = config;
    const weights = hasTokenRows(point, config) ? BN : BM;
    return point.scale !== "block128" || BLOCK % weights === 0
      ? undefined
      : `${weights} rows of B have no scale of their own`;
  },
  store(point, config) {
    const [weights, tokens] = hasTokenRows(point, config)
      ? [config.BN, config.BM]
      : [config.BM, config.BN];
    const stages = stagesOf(
      sidesOf(point, config),
      config,
      needsOf(point, config),
    );
    const ring = stages * (config.BM + config.BN) * config.BK;
    return !isThroughRing(point, config) ||
        tokens * (weights * BYTES.bf16 + 16) <= ring
      ? undefined
      : `${tokens} x ${weights} outputs have no room in ${stages} steps of BK=${config.BK}`;
  },
  // ptxas 13.0 serializes the wgmma of a step with two blocks of scales.
  turns: ({ scale }, { BK }) =>
    scale !== "block128" || BK === BLOCK
      ? undefined
      : `BK=${BK}: a step has one scale of blocks of ${BLOCK}`,
  ahead: (point, config) =>
    config.AHEAD === 0 || tilingOf(sidesOf(point, config), config).steps > 1
      ? undefined
      : "AHEAD=1: no step comes after the only one",
  ...ringRules(needsOf, sidesOf),
} satisfies Record<string, Rule<ScaledPoint, ScaledConfig>>;

function* configs(
  point: ScaledPoint,
  info: DeviceInfo,
): Generator<ScaledConfig> {
  const { m, n, k, scale } = point;
  const tokenRows = hasRowScales(point);
  // Narrow tiles of few rows of B fill more of the device.
  const most = [...(n > 1024 ? [] : [32]), 64, 128, 192];
  const steps = scale === "block128"
    ? [BLOCK] as const
    : [BLOCK, 2 * BLOCK] as const;
  const rings = ringConfigs(sidesOf(point, {}), info, {
    heights: hasColumnScales(point) ? [64, 128] : [64, 128, 192],
    rows: tokenRows
      ? most.filter((columns) => BLOCK % columns === 0)
      : most.map((rows) => evenRows(m, rows)),
    steps,
    splitsTiles: (BN) => BN >= 64,
  });
  for (const ring of rings) {
    // With scales loaded by columns AHEAD=1 was slower at nearly every size.
    for (const AHEAD of hasColumnScales(point) ? [0] : [1, 0]) {
      yield { ...ring, AHEAD };
    }
  }
  // Block scales of B are of 128 rows, of which a tile has an equal part.
  if (scale === "block128" || m <= WGMMA_ROWS) return;
  for (const { BM, BN, WARPS, CLUSTER, RESIDENT } of waveTiles(point, info)) {
    for (const BK of steps) {
      if (emptyBlocks(k, CLUSTER, BK)) continue;
      for (const AHEAD of [1, 0]) {
        const tile = { TOKEN_ROWS: 1, BM, BN, BK, WARPS } as const;
        yield { ...tile, CLUSTER, RESIDENT, AHEAD };
      }
    }
  }
}

/**
 * A rough time in µs, of use to order configs: fitted to 2187 configs of 99 shapes on an H100
 * (`docs/notes/2026-11-28-raised-registers.md`). No constant is by itself a time that was measured.
 */
function predict(
  point: ScaledPoint,
  config: ScaledConfig,
  { units }: DeviceInfo,
): number {
  const sides = sidesOf(point, config);
  const { m, n, k } = sides;
  const { BM, BN, BK, CLUSTER, RESIDENT, AHEAD } = config;
  const { tilesN, tilesM, steps } = tilingOf(sides, config);
  const stages = stagesOf(sides, config, needsOf(point, config));
  const blocks = tilesN * tilesM * CLUSTER;
  const beside = Math.ceil(Math.min(blocks / units, RESIDENT));
  const waves = Math.ceil(blocks / units / RESIDENT);
  const waits = 183 + (hasColumnScales(point) ? 2.52 * BN : 0) -
    AHEAD * (BK > BLOCK ? 139 : 41);
  const products = 0.974 * BM / 64 * 2 * Math.max(BN, 16) * BK / BLOCK;
  // From memory, from the cache, the trips in which stages are filled again, and the products.
  const loop = [
    (m + n) * k / 2.67e6,
    blocks * (Math.min(n, BM) + Math.min(m, BN)) * steps * BK / 18.4e6,
    1.9 * waves * Math.max(0, steps / stages - 1),
    waves * steps * Math.max(products * beside, products + waits) /
    CLOCKS_PER_US,
  ];
  const sums = BM * BN * beside * (CLUSTER - 1) / CLUSTER;
  return 6.1 +
    loop.reduce((sum, time) => sum + time ** 2.92, 0) ** (1 / 2.92) +
    1.3 * (waves - 1) + 0.0029 * Math.max(0, units - blocks) +
    (CLUSTER > 1 ? 0.23 + 0.88 * (sums / 2048) ** 0.686 : 0);
}

/** FP8 products of warpgroups. */
export const wgmma: Kernel<ScaledPoint> = launched<ScaledPoint, ScaledConfig>(
  scaledMatmul,
  {
    name: "wgmma",
    backend: "cuda",
    idea: "FP8 wgmma by tensor maps, fp32 sums of 128 of K, K over a cluster",
    unsupported: ({ k }, info) =>
      noWgmma(info) ??
        (k % 16 === 0
          ? undefined
          : `K=${k}: tensor maps take rows of whole 16-byte chunks`),
    configs,
    rules,
    predict,
    isFitted: true,
    startsEarly: () => true,
    build: (point, config) => ({
      source: new URL("./wgmma.cu", import.meta.url),
      defines: {
        SCALE: point.scale,
        TOKEN_ROWS: Number(hasTokenRows(point, config)),
        ...ringDefines(sidesOf(point, config), config, needsOf(point, config)),
      },
    }),
    launch({ point, config, operands, device }) {
      const { m, n, k } = point;
      const { BM, BN } = config;
      const { slice } = tilingOf(sidesOf(point, config), config);
      const { A, B, scaleA, scaleB, C } = operands;
      const map = (of: Memory, rows: number, boxRows: number) =>
        tensorMapOn(device, of, {
          type: "e4m3",
          columns: k,
          ld: k,
          boxColumns: BLOCK,
          rows,
          boxRows,
        });
      const needs = needsOf(point, config);
      const shape = ringShape(sidesOf(point, config), config, needs);
      const [x, y, z] = shape.grid;
      const rest = [scaleA, scaleB, C, m, n, k, slice, EARLY];
      return hasTokenRows(point, config)
        ? {
          entry: "scaled_wgmma",
          args: [map(A!, m, BM), map(B!, n, BN), ...rest],
          // Tiles of M come first.
          shape: { ...shape, grid: [x, z, y] },
        }
        : {
          entry: "scaled_wgmma",
          args: [map(B!, n, BM), map(A!, m, BN), ...rest],
          shape,
        };
    },
  },
);

/** The workspace in bytes that PyTorch gives cuBLASLt on Hopper. */
const WORKSPACE_BYTES = 32 << 20;

/** FP8 operands and block scales that cuBLASLt takes (cuBLAS 13.0 documentation). */
function notInBlaslt({ m, n, k, scale }: ScaledPoint): string | undefined {
  if (k % 16 !== 0 || n % 8 !== 0) {
    return `N=${n}, K=${k}: cuBLASLt takes rows of whole 16-byte chunks`;
  }
  return scale === "block128" && m % 4 !== 0
    ? `M=${m}: cuBLASLt takes block scales for multiples of 4`
    : undefined;
}

const library = fusedKernels(scaledMatmul, {
  backend: "cuda",
  name: "cublaslt",
  title: "cuBLASLt",
  workspaceBytes: WORKSPACE_BYTES,
  searched: "algorithms",
  product: "the library's scaled FP8 product",
  unsupported: notInBlaslt,
  gemmOf: ({ m, n, k, scale }, { A, B, scaleA, scaleB, C }) => ({
    m,
    n,
    k,
    epilogue: "none",
    a: { memory: A!, type: "e4m3", ld: k },
    b: { memory: B!, type: "e4m3", ld: k, transposed: true },
    c: { memory: C!, type: "bf16", ld: n },
    scales: { kind: scale, a: scaleA!, b: scaleB! },
  }),
});

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<ScaledPoint>[] = [...library, wgmma];
