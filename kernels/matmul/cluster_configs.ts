/**
 * The configs of the one-launch kernels: how a tile of the output and its K slices are laid
 * out on the device, what makes that impossible, and about how long it takes.
 *
 * @module
 */

import { BYTES } from "../../bench/dtype.ts";
import type { Values } from "../../bench/grid.ts";
import type { Rule } from "../../bench/kernel.ts";
import type { MatmulPoint } from "./op.ts";
import { covering } from "../covering.ts";

/** How a product is cut. */
export type ClusterConfig = Values & {
  /**
   * Whether operands go through a ring in shared memory, from where warps or whole warpgroups
   * multiply them, or directly to registers.
   */
  readonly LOAD: "ring" | "wgmma" | "direct";
  /** Rows and columns of the output that a cluster owns. */
  readonly BM: number;
  readonly BN: number;
  /** The K step that is copied and multiplied as one. */
  readonly BK: number;
  readonly WARPS: number;
  /** Warps that share a K step, at least. */
  readonly KWARPS: number;
  /** K steps in flight or in use. */
  readonly STAGES: number;
  /** Blocks of a cluster: K slices that meet in distributed shared memory. */
  readonly CLUSTER: number;
  /** Clusters that share a tile: they meet in a workspace. */
  readonly PARTS: number;
};

type Sizes = Pick<MatmulPoint, "m" | "n" | "k" | "type">;

/** The number of K slices. */
export function slicesOf({ CLUSTER, PARTS }: ClusterConfig): number {
  return CLUSTER * PARTS;
}

/** Elements of K that a block owns: whole k16 steps, the last block's may be fewer. */
export function sliceOf(
  { k }: Pick<Sizes, "k">,
  config: ClusterConfig,
): number {
  return Math.ceil(k / slicesOf(config) / 16) * 16;
}

/** Clusters along N and along M. */
export function tilesOf(
  { m, n }: Pick<Sizes, "m" | "n">,
  { BM, BN }: Pick<ClusterConfig, "BM" | "BN">,
): readonly [number, number] {
  return [Math.ceil(n / BN), Math.ceil(m / BM)];
}

/**
 * Which operand is whole tiles and, as K is whole steps, all of it where the kernel looks: its
 * copies ask nothing then. All rows start on 16 bytes.
 */
export function evenness(
  point: Sizes & Pick<MatmulPoint, "lda" | "ldb" | "layout">,
  config: ClusterConfig,
): { readonly EVEN_A: 0 | 1; readonly EVEN_B: 0 | 1 } {
  const { m, n, k, lda, ldb, type, layout } = point;
  const slice = sliceOf(point, config);
  const even = slice * slicesOf(config) === k && slice % config.BK === 0 &&
    [lda, ldb, layout === "nn" ? n : slice].every((length) =>
      length * BYTES[type] % 16 === 0
    );
  const whole = (size: number, tile: number) => even && size % tile === 0;
  return {
    EVEN_A: whole(m, config.BM) ? 1 : 0,
    EVEN_B: whole(n, config.BN) ? 1 : 0,
  };
}

/** How many warps of a tile share a K step: `Cut` of ring.cuh. */
export function kWarps({ LOAD, BM, BN, WARPS, KWARPS }: ClusterConfig): number {
  if (LOAD === "wgmma") return 1;
  let [m, n, k] = [BM, BN, KWARPS];
  for (let warps = WARPS / KWARPS; warps > 1; warps /= 2) {
    if (m >= n && m > 16) m /= 2;
    else if (n > 16) n /= 2;
    else if (m > 16) m /= 2;
    else k *= 2;
  }
  return k;
}

function ringBytes({ type }: Sizes, c: ClusterConfig): number {
  return c.STAGES * (c.BM + c.BN) * c.BK * BYTES[type];
}

/** Bytes in which the sums of warps that share K steps meet. */
function meetingBytes(config: ClusterConfig): number {
  const warps = kWarps(config);
  return warps > 1 ? warps * config.BM * config.BN * BYTES.f32 : 0;
}

/**
 * Bytes of shared memory: the ring or the meeting; where there are slices, a mailbox for each
 * share and its barrier, 16 bytes of each thread for parts that meet.
 */
export function sharedBytes(point: Sizes, config: ClusterConfig): number {
  const { LOAD, BM, BN, CLUSTER, WARPS } = config;
  const room = LOAD === "direct"
    ? meetingBytes(config)
    : ringBytes(point, config);
  if (slicesOf(config) === 1) return room;
  // A share is whole units of at most 16 bytes.
  const share = Math.ceil(BM * BN / CLUSTER / 4) * 4;
  return room + CLUSTER * share * BYTES.f32 + 16 + 32 * WARPS * 16;
}

/**
 * About how many registers a lane needs for operands that never touch shared memory: the K
 * steps of 32 under way, the sums, and addresses.
 */
function registers({ BM, BN, STAGES }: ClusterConfig): number {
  return STAGES * (BM + BN) / 2 + BM * BN / 32 + 40;
}

/** What a config must obey, by name. */
export const rules: Readonly<
  Record<string, Rule<MatmulPoint, ClusterConfig>>
> = {
  tile({ m, n }, { LOAD, BM, BN }) {
    // A warpgroup has 64 rows, and those that do not exist are not read.
    if (BM > covering(m, LOAD === "wgmma" ? 64 : 16)) {
      return `more than half of BM=${BM} would be padding`;
    }
    if (BN >= 2 * Math.max(n, 16)) {
      return `more than half of BN=${BN} would be padding`;
    }
    return undefined;
  },
  types({ type }, { LOAD }) {
    return LOAD === "direct" && type === "f32"
      ? "only fragments of 16-bit operands are loaded directly"
      : undefined;
  },
  warpgroups(_, { LOAD, BM, BN, BK, WARPS }) {
    if (LOAD !== "wgmma") return undefined;
    const columns = BM * BN / 16 / WARPS;
    return BM % 64 === 0 && WARPS % 4 === 0 && BK % 64 === 0 &&
        columns % 8 === 0 && columns <= 256 && BM <= 16 * WARPS
      ? undefined
      : `${WARPS} warps are no warpgroups with products of 64 rows, 8 to 256 columns and 64 of K`;
  },
  registers(_, config) {
    if (config.LOAD !== "direct") return undefined;
    const most = Math.min(255, 65536 / 32 / config.WARPS);
    const needed = registers(config);
    return needed <= most
      ? undefined
      : `about ${needed} registers of a lane, ${config.WARPS} warps leave ${most}`;
  },
  warps({ type }, config) {
    const { LOAD, WARPS, KWARPS, BK } = config;
    if (LOAD !== "ring") return undefined;
    if (WARPS % KWARPS !== 0) {
      return `KWARPS=${KWARPS} does not divide WARPS=${WARPS}`;
    }
    const step = type === "f32" ? 4 : 16;
    const shared = kWarps(config);
    return BK % (step * shared) === 0
      ? undefined
      : `BK=${BK} has no steps of ${step} for each of ${shared} warps`;
  },
  slices(point, config) {
    const [slices, slice] = [slicesOf(config), sliceOf(point, config)];
    return (slices - 1) * slice < point.k
      ? undefined
      : `${slices} slices of ${slice} leave some without any of K=${point.k}`;
  },
  stages(point, config) {
    const { LOAD, STAGES, BK, WARPS } = config;
    const all = sliceOf(point, config) / BK;
    const steps = Math.ceil(LOAD === "direct" ? all / WARPS : all);
    if (LOAD !== "direct" && BK > 128 && 2 * all <= 1) {
      return `more than half of BK=${BK} would be padding`;
    }
    if (LOAD !== "direct" && STAGES === 1 && steps > 1) {
      return `one stage for ${steps} steps of BK=${BK}`;
    }
    return STAGES <= Math.max(2, steps)
      ? undefined
      : `${STAGES} stages for ${steps} steps of BK=${BK}`;
  },
  meeting(point, config) {
    return config.LOAD === "direct" ||
        meetingBytes(config) <= ringBytes(point, config)
      ? undefined
      : `the sums of ${kWarps(config)} warps do not fit in the ring`;
  },
  shared(point, config, info) {
    const bytes = sharedBytes(point, config);
    return bytes <= info.sharedBytes
      ? undefined
      : `${bytes} bytes of shared memory, a block may have ${info.sharedBytes}`;
  },
  grid(point, config) {
    const most = Math.max(...tilesOf(point, config));
    return most <= 65535
      ? undefined
      : `a grid of ${most} tiles is beyond 65535 along an axis`;
  },
};
