/**
 * The kernel whose products have rows of B as rows and rows of A as columns.
 *
 * @module
 */

import {
  type DeviceInfo,
  tensorMapOn,
} from "../../../../bench/device/device.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import { grid } from "../../../../bench/model/grid.ts";
import type { Rule } from "../../../../bench/model/kernel.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import { isWhole } from "../../../common/decompose_k.ts";
import { launched } from "../../../common/launch.ts";
import { noWgmma } from "../../../common/rules.ts";
import {
  cutOf,
  evenRows,
  type RingBytes,
  type RingConfig,
  ringDefines,
  ringRules,
  ringShape,
} from "../../../common/wgmma_ring.ts";
import { matmul } from "../../op.ts";
import { hasRelu, type MatmulPoint, tooLarge } from "../../point.ts";
import { clustersAtOnce } from "../cluster/configs.ts";

/** K of a box: 128 bytes. */
const BOX = 64;
/** Rows of a product of a warpgroup. */
const PRODUCT = 64;

/** Rows of the products that a tile of `BM` rows of B takes. */
function productRows({ BM }: Pick<RingConfig, "BM">): number {
  return Math.ceil(BM / PRODUCT) * PRODUCT;
}

/** Slots of a thread: eights of the rows of A that its warp multiplies. */
function slotsOf({ BM, BN, WARPS }: RingConfig): number {
  return productRows({ BM }) * BN / 16 / WARPS / 8;
}

/** Whether each block of a cluster has whole slots, as `BY_SLOT` of cluster_reduce.cuh says. */
function bySlot(config: RingConfig): boolean {
  const [slots, size] = [slotsOf(config), config.CLUSTER];
  return size === 1 || slots % size === 0 || slots >= (size - 1) ** 2;
}

function bytesOf(_: MatmulPoint, config: RingConfig): RingBytes {
  const { BM, BN, BK, WARPS, CLUSTER } = config;
  const most = Math.ceil(slotsOf(config) / CLUSTER);
  const mail = CLUSTER > 1 ? (CLUSTER - 1) * most * 32 * WARPS * 16 + 16 : 0;
  // A step has two barriers.
  return { step: (BM + BN) * BK * BYTES.bf16 + 16, beside: mail };
}

/** About the registers of a thread. */
function registersOf(config: RingConfig): number {
  return slotsOf(config) * 4 + 34;
}

/** The rules of a config, by name. */
export const columnsRules = {
  tile(_, config) {
    const { BM, BN, BK, WARPS } = config;
    const slots = slotsOf(config);
    return BM % 8 === 0 && BM <= 256 && BK % BOX === 0 && WARPS % 4 === 0 &&
        WARPS * 16 >= productRows(config) && BN <= 256 && slots >= 1 &&
        slots % 1 === 0 && slots <= 32
      ? undefined
      : `${WARPS} warps have no whole products of ${BM} x ${BN}`;
  },
  behind: (_, config) =>
    productRows(config) - config.BM <= config.BN * config.BK / BOX
      ? undefined
      : `products of ${
        productRows(config)
      } rows read the next step behind ${config.BM}`,
  slots: (_, config) =>
    bySlot(config)
      ? undefined
      : `${config.CLUSTER} blocks have no whole parts of ${
        slotsOf(config)
      } slots`,
  store: (_, { BM, BN, BK }) =>
    BN * (BM * BYTES.bf16 + 16) <= (BM + BN) * BK * BYTES.bf16
      ? undefined
      : `${BM} x ${BN} outputs have no room in a step of BK=${BK}`,
  ...ringRules(bytesOf, registersOf),
} satisfies Record<string, Rule<MatmulPoint, RingConfig>>;

function* configs(
  point: MatmulPoint,
  info: DeviceInfo,
): Generator<RingConfig> {
  const { m, n } = point;
  const columns = new Set([64, 128].map((most) => evenRows(m, most)));
  const heights = [16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128];
  const tiled = { BM: heights, BN: [...columns], RESIDENT: [1, 2, 3] };
  for (const { BM, BN, RESIDENT } of grid(tiled)) {
    const tiles = Math.ceil(n / BM) * Math.ceil(m / BN);
    const CLUSTER = [8, 7, 6, 5, 4, 3, 2, 1].find((size) =>
      size === 1 || tiles <= RESIDENT * clustersAtOnce(info, size)
    )!;
    if ((RESIDENT - 1) * info.units >= tiles * CLUSTER) continue;
    const WARPS = productRows({ BM }) / 16;
    for (const BK of [BOX, 2 * BOX]) {
      yield { BM, BN, BK, WARPS, CLUSTER, RESIDENT };
    }
  }
}

/** See {@linkcode RingConfig}. */
export const columnsK: Kernel<MatmulPoint> = launched<MatmulPoint, RingConfig>(
  matmul,
  {
    name: "columns-k",
    backend: "cuda",
    idea: "rows of A are the columns of products: none is multiplied in vain",
    unsupported(point, info) {
      const large = tooLarge(point) ?? noWgmma(info);
      if (large) return large;
      if (point.type === "f32") return "wgmma has no products of IEEE fp32";
      if (point.layout === "nn") {
        return "it reads K along the rows of B, which must be stored by columns: layout nt";
      }
      return [point.k, point.lda, point.ldb].every((length) => length % 8 === 0)
        ? undefined
        : "it reads rows by 16 bytes: K, lda and ldb must be multiples of 8";
    },
    configs,
    rules: columnsRules,
    predict: (point, config, info) => {
      const { tilesN, tilesM } = cutOf(point, config);
      return 5 + tilesN * tilesM * config.CLUSTER / info.units;
    },
    build: (point, config) => ({
      source: new URL("./columns.cu", import.meta.url),
      defines: {
        TYPE: point.type,
        ...ringDefines(point, config, bytesOf(point, config)),
        BM: productRows(config),
        ROWS: config.BM,
      },
    }),
    launch(site) {
      const { point, config, operands: { A, B, bias, C }, device } = site;
      const { m, n, k, lda, ldb, ldc, type } = point;
      const { BM, BN } = config;
      const { slice } = cutOf(point, config);
      if (!isWhole(site, slice)) {
        throw new Error("Operands of columns-k do not start on 16 bytes");
      }
      const box = { type, columns: k, boxColumns: BOX };
      return {
        args: [
          tensorMapOn(device, B!, { ...box, rows: n, ld: ldb, boxRows: BM }),
          tensorMapOn(device, A!, { ...box, rows: m, ld: lda, boxRows: BN }),
          ...[bias, C, m, n, k, slice, ldc, hasRelu(point)],
        ],
        shape: ringShape(point, config, bytesOf(point, config)),
      };
    },
  },
);
