/**
 * Multiplies by wgmma with outputs of a row of A as the 64 rows of a product, and rows of A as its
 * columns; or, of many rows of A, the other way round.
 *
 * @module
 */

import { tensorMapOn } from "../../../../bench/device/device.ts";
import { EARLY } from "../../../../bench/device/queue.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import type { Rule } from "../../../../bench/model/kernel.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import { demandAligned, launched } from "../../../common/launch.ts";
import { noWgmma } from "../../../common/rules.ts";
import {
  ringRules,
  ringShape,
  tilingOf,
  WGMMA_ROWS,
} from "../../../common/wgmma_ring.ts";
import { matmul } from "../../op.ts";
import { hasRelu, type MatmulPoint, tooLarge } from "../../point.ts";
import { columnsKConfigs, predictColumnsK } from "./configs.ts";
import {
  BOX,
  bySlot,
  type ColumnsConfig,
  columnsOf,
  definesOf,
  hasRowMajorWgmma,
  hasWholeBoxes,
  needsOf,
  readsWithinStep,
  ringSizesOf,
  slotsOf,
  stages,
  wgmmaRows,
} from "./tile.ts";

/** The rules of a config, by name. */
export const columnsRules = {
  tile(_, config) {
    const { BM, BN, BK, WARPS, TOKEN_ROWS } = config;
    const slots = slotsOf(config);
    if (TOKEN_ROWS && BM % WGMMA_ROWS !== 0) {
      return `${BM} rows of A are no whole products`;
    }
    if (
      BM % 8 !== 0 || BM > 256 || BK % BOX !== 0 || WARPS % 4 !== 0 ||
      WARPS * 16 < wgmmaRows(config) || BN > 256 || slots < 1 ||
      slots % 1 !== 0 || slots > 32
    ) return `${WARPS} warps have no whole products of ${BM} x ${BN}`;
    return undefined;
  },
  boxes: (point, config) => {
    const { BM, BN, TOKEN_ROWS } = config;
    const outputs = TOKEN_ROWS ? BN : BM;
    if (!hasWholeBoxes(point, outputs)) {
      return `${outputs} columns of B are no whole boxes of ${BOX}`;
    }
    return !TOKEN_ROWS || hasRowMajorWgmma(point, columnsOf(config))
      ? undefined
      : `wgmma has no products of ${columnsOf(config)} columns of B by rows`;
  },
  behind: (_, config) =>
    readsWithinStep(config)
      ? undefined
      : `products of ${
        wgmmaRows(config)
      } rows read the next step behind ${config.BM}`,
  slots: (_, config) =>
    bySlot(config)
      ? undefined
      : `${config.CLUSTER} blocks have no whole parts of ${
        slotsOf(config)
      } slots`,
  store(point, config) {
    const { BM, BN, BK, CLUSTER, TOKEN_ROWS } = config;
    const [lines, length] = TOKEN_ROWS ? [BM, BN] : [BN, BM];
    const steps = stages(point, config);
    const room = steps * (BM + BN) * BK * BYTES.bf16;
    return !TOKEN_ROWS && CLUSTER > 1 ||
        lines * (length * BYTES.bf16 + 16) <= room
      ? undefined
      : `${BM} x ${BN} outputs have no room in ${steps} steps of BK=${BK}`;
  },
  ...ringRules(needsOf, ringSizesOf),
} satisfies Record<string, Rule<MatmulPoint, ColumnsConfig>>;

/** See {@linkcode ColumnsConfig}. */
export const columnsK: Kernel<MatmulPoint> = launched<
  MatmulPoint,
  ColumnsConfig
>(
  matmul,
  {
    name: "columns-k",
    backend: "cuda",
    idea:
      "rows of C are wgmma's N if few, its M if many; tiles that fill the GPU",
    unsupported(point, info) {
      const large = tooLarge(point) ?? noWgmma(info);
      if (large) return large;
      if (point.type === "f32") return "wgmma has no products of IEEE fp32";
      return [point.k, point.lda, point.ldb].every((length) => length % 8 === 0)
        ? undefined
        : "it reads rows by 16 bytes: K, lda and ldb must be multiples of 8";
    },
    configs: columnsKConfigs,
    rules: columnsRules,
    predict: predictColumnsK,
    isFitted: true,
    startsEarly: () => true,
    build: (point, config) => ({
      source: new URL("./columns.cu", import.meta.url),
      defines: {
        TYPE: point.type,
        ...definesOf(point, config),
        BM: wgmmaRows(config),
        ROWS: config.BM,
        ...(point.layout === "nn" ? { LAYOUT: point.layout } : {}),
      },
    }),
    launch(site) {
      const { point, config, operands: { A, B, bias, C }, device } = site;
      const { m, n, k, lda, ldb, ldc, type } = point;
      const { BM, BN, BK, TOKEN_ROWS } = config;
      const sides = ringSizesOf(point, config);
      const { slice } = tilingOf(sides, config);
      const [ofA, ofB] = TOKEN_ROWS ? [BM, BN] : [BN, BM];
      demandAligned(A!, "A", "tensor maps");
      demandAligned(B!, "B", "tensor maps");
      const box = { type, columns: k, boxColumns: BOX };
      const weights = point.layout === "nt"
        ? { ...box, rows: n, ld: ldb, boxRows: ofB }
        : { ...box, columns: n, rows: k, ld: ldb, boxRows: BK };
      const shape = ringShape(sides, config, needsOf(point, config));
      const [x, y, z] = shape.grid;
      return {
        args: [
          tensorMapOn(device, B!, weights),
          tensorMapOn(device, A!, { ...box, rows: m, ld: lda, boxRows: ofA }),
          ...[bias, C, m, n, k, slice, ldc, hasRelu(point), EARLY],
        ],
        // Tiles of A come first.
        shape: TOKEN_ROWS ? { ...shape, grid: [x, z, y] } : shape,
      };
    },
  },
);
