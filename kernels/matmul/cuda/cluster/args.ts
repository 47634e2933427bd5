/**
 * What the kernels of one launch are given.
 *
 * @module
 */

import {
  type Arg,
  i32,
  i64,
  mem,
  type Memory,
} from "../../../../bench/device/queue.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import { tensorMapOn } from "../../../../bench/device/device.ts";
import { type ClusterConfig, columnsOf, tilesOf } from "./configs.ts";
import { hasRelu, type MatmulPoint } from "../../point.ts";
import type { Site } from "../../../common/decompose_k.ts";

/** A launch, as the kernel sees it: `a` and `b` are swapped where it is. */
export interface Given {
  readonly point: MatmulPoint;
  readonly config: ClusterConfig;
  /** How clusters that share a tile meet. */
  readonly join: "alone" | "last" | "exchange";
  readonly a: Memory;
  readonly b: Memory;
  /** Elements of K that a block owns. */
  readonly slice: number;
  /** Whether rows start on 16 bytes in every slice and are whole chunks long. */
  readonly whole: boolean;
}

/**
 * The parameters in the order of the entries of `cluster_*.cu`.
 *
 * @throws {CaseError} As {@linkcode tensorMapOn}.
 */
export function argsOf(site: Site, given: Given): Arg[] {
  const { point: { m, n, k, lda, ldb, ldc }, config, a, b, slice } = given;
  const { bias, C } = site.operands;
  const output = [bias ? mem(bias) : i64(0), mem(C!)];
  const relu = i32(hasRelu(given.point) ? 1 : 0);
  if (config.LOAD === "tensor") {
    const sizes = [m, n, k, slice, ldc].map(i32);
    return [...tensorMaps(site, given), ...output, ...sizes, relu];
  }
  return [
    mem(a),
    mem(b),
    ...output,
    ...meeting(site, given),
    ...[m, n, k, slice, lda, ldb, ldc].map(i32),
    relu,
    i32(given.whole ? 1 : 0),
  ];
}

/** Of both operands, in boxes of a tile's rows and 128 bytes of each. */
function tensorMaps({ device }: Site, { point, config, a, b }: Given): Arg[] {
  const { m, n, k: columns, lda, ldb, type } = point;
  const box = { type, columns, boxColumns: 128 / BYTES[type] };
  return [
    tensorMapOn(device, a, { ...box, rows: m, ld: lda, boxRows: config.BM }),
    tensorMapOn(device, b, { ...box, rows: n, ld: ldb, boxRows: config.BN }),
  ];
}

/**
 * Where clusters of one tile meet, and how many have arrived there. The poison of a fresh
 * workspace is the empty state of both; each run leaves an empty one behind.
 */
function meeting(
  site: Site,
  { point, config, join }: Given,
): Arg[] {
  const { BM, CLUSTER, PARTS } = config;
  if (join === "alone") return [i64(0), i64(0)];
  const [x, y] = tilesOf(point, config);
  // Pieces of a share are whole units of at most 16 bytes.
  const share = Math.ceil(BM * columnsOf(point, config) / CLUSTER / 2) * 2;
  const piece = Math.ceil(share / PARTS / 4) * 4;
  const sums = site.alloc(x * y * CLUSTER * PARTS * PARTS * piece * BYTES.f32);
  if (join === "exchange") return [mem(sums), i64(0)];
  return [mem(sums), mem(site.alloc(x * y * CLUSTER * 4))];
}
