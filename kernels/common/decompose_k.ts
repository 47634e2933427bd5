/**
 * Decompose-K kernels of any backend: partial products of K slices in fp32, then a reducer.
 *
 * A backend gives its tiles, rules, sources and launch shapes; arguments, configs and the order
 * of the launches are the same on all.
 *
 * @module
 */

import type { Build, DeviceInfo } from "../../bench/device/device.ts";
import {
  type Arg,
  i32,
  i64,
  type LaunchShape,
  mem,
  type Memory,
  type Step,
} from "../../bench/device/queue.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel, type Rules } from "../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { hasRelu, type MatmulPoint } from "../matmul/point.ts";
import { inductorSplits, noSplit, optimizedSplits } from "./splits.ts";

/** The context of a launch. */
export type Site = Context<MatmulPoint, Values>;

/** A launch: its entry, its shape, and the 32-bit numbers that only this backend passes. */
export interface Launch {
  readonly entry: string;
  readonly shape: LaunchShape;
  /** They come after the sizes and before the flags. */
  readonly more?: readonly number[];
}

/** A tile of the output and its K step; backends add how a block shares them. */
export interface Tile {
  readonly BM: number;
  readonly BN: number;
  readonly BK: number;
}

/** A tile and the number of K slices. */
export type Split<T> = Values & T & { readonly SPLIT: number };

/** A backend's tiles, rules and launches. */
export interface DecomposeBackend<T extends Tile> {
  readonly backend: string;
  /** Tiles of the kernel whose reducer has the shape of the product. */
  readonly tiles: readonly T[];
  /** Tiles of the kernel whose reducer spreads the slices, and its idea. */
  readonly splitTiles: readonly T[];
  readonly splitIdea: string;
  /** Why the second launch cannot start early. @default {there is no such variant} */
  noOverlap?(info: DeviceInfo): string | undefined;
  unsupported(point: MatmulPoint, info: DeviceInfo): string | undefined;
  readonly rules: Rules<MatmulPoint, Split<T>>;
  predict(point: MatmulPoint, config: Split<T>, info: DeviceInfo): number;
  /** The source of `epilogue`, `sum_tile` and `sum_split`, which are compiled for a type alone. */
  source(name: "epilogue" | "sum_tile" | "sum_split"): URL;
  /** One for each tile, type and layout: shapes and splits are run-time arguments. */
  partialBuild(point: MatmulPoint, config: Split<T>): Build;
  partial(point: MatmulPoint, config: Split<T>): Launch;
  sumTile(point: MatmulPoint, config: Split<T>): Omit<Launch, "entry">;
  /** Entries are `sum_split_<columns>`. */
  sumSplit(
    point: MatmulPoint,
    split: number,
  ): { readonly columns: number; readonly shape: LaunchShape };
  epilogue(point: MatmulPoint): Omit<Launch, "entry">;
  /**
   * Whether an argument may be a null pointer. Where not, any memory stands for a missing bias,
   * and a flag after ReLU's says whether there is one.
   */
  readonly nullPointers: boolean;
}

/** The order of two launches. */
export interface Overlap {
  /** Whether the second is launched while the first runs. @default {false} */
  readonly overlap?: boolean;
}

/** The slices to sum; `fused` applies the epilogue before the sum is rounded. */
export interface Sum extends Overlap {
  readonly partials: Memory;
  readonly fused: boolean;
}

/** The builds and launches of a backend. */
export interface DecomposeSteps<T> {
  build(
    name: "epilogue" | "sum_tile" | "sum_split",
    point: MatmulPoint,
    overlap?: boolean,
  ): Build;
  partialBuild(point: MatmulPoint, config: Split<T>, overlap?: boolean): Build;
  /** Writes the partial products of all K slices: `[SPLIT, M, N]` in fp32. */
  partial(
    site: Site,
    config: Split<T>,
    to: Overlap & { readonly partials: Memory },
  ): Step;
  /** C = the sum of the slices by the tile-shaped reducer, a block for each tile. */
  sumTile(site: Site, config: Split<T>, sum: Sum): Step;
  /** C = the sum of `split` slices by the split-axis reducer. */
  sumSplit(site: Site, split: number, sum: Sum): Step;
  /** C = epilogue(`from`), whose rows are `ld` elements apart; `from` may be C. */
  epilogue(site: Site, from: Memory, ld: number): Step;
}

/** Bytes of the fp32 partial products `[split, M, N]`. */
export function partialBytes({ m, n }: MatmulPoint, split: number): number {
  return split * m * n * BYTES.f32;
}

/** Returns whether every slice's rows of A and B are whole 16-byte chunks at 16-byte addresses. */
export function isWhole({ point, operands }: Site, slice: number): boolean {
  const { n, k, lda, ldb, layout, type } = point;
  const chunk = 16 / BYTES[type];
  return [operands.A!, operands.B!].every(({ address }) =>
    address % 16n === 0n
  ) &&
    // The last slice ends where K does: what follows in a row is not the matrix's.
    [lda, ldb, slice, k, layout === "nn" ? n : k].every((x) => x % chunk === 0);
}

/** The builds and launches of `backend`. */
export function decomposeSteps<T extends Tile>(
  backend: DecomposeBackend<T>,
): DecomposeSteps<T> {
  const overlapped = (build: Build, overlap: boolean): Build =>
    overlap ? { ...build, defines: { ...build.defines, PDL: 1 } } : build;
  const build: DecomposeSteps<T>["build"] = (name, { type }, overlap = false) =>
    overlapped(
      { source: backend.source(name), defines: { TYPE: type } },
      overlap,
    );
  const partialBuild = (
    point: MatmulPoint,
    config: Split<T>,
    overlap = false,
  ) => overlapped(backend.partialBuild(point, config), overlap);

  const biasOf = ({ operands: { bias, C } }: Site, fused = true): Arg => {
    if (!backend.nullPointers) return mem(bias ?? C!);
    return fused && bias ? mem(bias) : i64(0);
  };
  const flags = ({ point, operands }: Site, fused = true): Arg[] =>
    [
      hasRelu(point),
      ...(backend.nullPointers ? [] : [operands.bias !== undefined]),
    ].map((is) => i32(Number(fused && is)));
  const sumArgs = (
    site: Site,
    { split, partials, fused, more = [] }:
      & Sum
      & Pick<Launch, "more">
      & { readonly split: number },
  ): Arg[] => {
    const { m, n, ldc } = site.point;
    return [
      mem(partials),
      biasOf(site, fused),
      mem(site.operands.C!),
      ...[m, n, split, ldc, ...more].map(i32),
      ...flags(site, fused),
    ];
  };

  return {
    build,
    partialBuild,
    partial(site, config, { partials, overlap }) {
      const { point, operands } = site;
      const { m, n, k, lda, ldb } = point;
      const slice = k / config.SPLIT;
      const { entry, shape, more = [] } = backend.partial(point, config);
      const program = site.program(partialBuild(point, config, overlap), entry);
      return program.step([
        mem(operands.A!),
        mem(operands.B!),
        mem(partials),
        ...[m, n, slice, lda, ldb, ...more].map(i32),
        i32(isWhole(site, slice) ? 1 : 0),
      ], shape);
    },
    sumTile(site, config, sum) {
      const { shape, more = [] } = backend.sumTile(site.point, config);
      return site.program(build("sum_tile", site.point), "sum_tile").step(
        sumArgs(site, { ...sum, split: config.SPLIT, more }),
        shape,
      );
    },
    sumSplit(site, split, { overlap = false, ...sum }) {
      const { columns, shape } = backend.sumSplit(site.point, split);
      const program = site.program(
        build("sum_split", site.point, overlap),
        `sum_split_${columns}`,
      );
      return program.step(
        sumArgs(site, { ...sum, split }),
        overlap ? { ...shape, overlap } : shape,
      );
    },
    epilogue(site, from, ld) {
      const { m, n, ldc } = site.point;
      const { shape, more = [] } = backend.epilogue(site.point);
      const program = site.program(
        build("epilogue", site.point),
        "epilogue_kernel",
      );
      return program.step([
        mem(from),
        biasOf(site),
        mem(site.operands.C!),
        ...[m, n, ld, ldc, ...more].map(i32),
        ...flags(site),
      ], shape);
    },
  };
}

/** A kernel and how its slices are summed. */
interface Family {
  readonly name: string;
  readonly idea: string;
  readonly reducer: "sum_tile" | "sum_split";
  splits(point: MatmulPoint): readonly number[];
  noSplit(point: MatmulPoint): string;
}

/** MLSys decompose-K's baseline: the reducer has the shape of the product. */
const TILE: Family = {
  name: "decompose-k-tile",
  idea: "own partial products of K slices, then a reducer with the same tiles",
  reducer: "sum_tile",
  splits: (point) => inductorSplits(point, 10),
  noSplit,
};

/** MLSys decompose-K's optimised kernel: the reducer spreads the slices over its threads. */
const SPLIT: Omit<Family, "idea"> = {
  name: "decompose-k",
  reducer: "sum_split",
  splits: optimizedSplits,
  noSplit: (point) =>
    `${noSplit(point)}, or a power of two up to 256 with slices of at least 16`,
};

/**
 * The decompose-K kernels of a backend, simplest first: each with its epilogue in the reducer
 * (fused) and apart (unfused), and one whose reducer is launched early where the backend can.
 */
export function decomposeKernels<T extends Tile>(
  op: Op<MatmulPoint>,
  backend: DecomposeBackend<T>,
): readonly Kernel<MatmulPoint>[] {
  const steps = decomposeSteps(backend);
  const kernel = (family: Family, variant: "fused" | "unfused" | "pdl") => {
    const tiles = family === TILE ? backend.tiles : backend.splitTiles;
    const fused = variant !== "unfused";
    const overlap = variant === "pdl";
    const idea = {
      fused: family.idea,
      unfused:
        `${family.name} at the same config, the epilogue as a kernel of its own`,
      pdl:
        `${family.name} at the same config, its reducer launched before it is due`,
    }[variant];
    return defineKernel<MatmulPoint, Split<T>>(op, {
      name: variant === "fused" ? family.name : `${family.name}-${variant}`,
      backend: backend.backend,
      idea,
      ...(variant === "fused" ? {} : { follows: family.name }),
      unsupported(point, info) {
        if (!fused && point.epilogue === "none") {
          return `${family.name} has no epilogue to unfuse`;
        }
        return backend.unsupported(point, info) ??
          (family.splits(point).length > 0
            ? overlap ? backend.noOverlap?.(info) : undefined
            : family.noSplit(point));
      },
      configs: (point) =>
        tiles.flatMap((tile) =>
          family.splits(point).map((SPLIT) => ({ ...tile, SPLIT }) as Split<T>)
        ),
      rules: backend.rules,
      predict: (point, config, info) => backend.predict(point, config, info),
      builds: (point, config) => [
        steps.partialBuild(point, config, overlap),
        steps.build(family.reducer, point, overlap),
        ...(fused ? [] : [steps.build("epilogue", point)]),
      ],
      prepare(site) {
        const { point, config, operands } = site;
        const partials = site.alloc(partialBytes(point, config.SPLIT));
        const sum = { partials, fused, overlap };
        return {
          steps: [
            steps.partial(site, config, sum),
            family.reducer === "sum_tile"
              ? steps.sumTile(site, config, sum)
              : steps.sumSplit(site, config.SPLIT, sum),
            ...(fused ? [] : [steps.epilogue(site, operands.C!, point.ldc)]),
          ],
        };
      },
    });
  };
  const spread = { ...SPLIT, idea: backend.splitIdea };
  return [
    kernel(TILE, "fused"),
    kernel(TILE, "unfused"),
    kernel(spread, "fused"),
    kernel(spread, "unfused"),
    ...(backend.noOverlap ? [kernel(spread, "pdl")] : []),
  ];
}
