/**
 * Decompose-K kernels of any backend: partial products of K slices in fp32, then a reducer.
 *
 * A backend gives its tiles, rules, sources and launch shapes; arguments, configs and the order
 * of the launches are the same on all.
 *
 * @module
 */

import type { Build, DeviceInfo } from "../../bench/device/device.ts";
import type { LaunchShape, Memory, Step } from "../../bench/device/queue.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel, type Rules } from "../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { hasRelu, type MatmulPoint } from "../matmul/point.ts";
import { launch } from "./launch.ts";
import { inductorSplits, noSplit, optimizedSplits } from "./splits.ts";

/** The context of a launch. */
export type LaunchContext = Context<MatmulPoint, Values>;

/** A launch: its shape, and the 32-bit numbers that only this backend passes. */
interface Launch {
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
  /** The source of both reducers and the epilogue, which is compiled for a type alone. */
  readonly sums: URL;
  /** That of the reducer for a C whose columns lie apart, likewise. */
  readonly strided: URL;
  /** The build is one for each tile, type and layout; its entry has the name of its source. */
  partial(
    point: MatmulPoint,
    config: Split<T>,
  ): Launch & { readonly build: Build; readonly entry: string };
  /** @default {a block of the spread reducer's threads for each tile} */
  sumTile?(point: MatmulPoint, config: Split<T>): Launch;
  /** Threads of a block of the reducer that spreads the slices, and bytes of its memory a column. */
  readonly spread: { readonly threads: number; readonly columnBytes: number };
  epilogue(point: MatmulPoint): Launch;
  /**
   * Whether an argument may be a null pointer. Where not, any memory stands for a missing bias,
   * and a flag after ReLU's says whether there is one.
   */
  readonly nullPointers: boolean;
}

/** The order of two launches. */
interface Overlap {
  /** Whether the second is launched while the first runs. @default {false} */
  readonly overlap?: boolean;
}

/** The slices to sum; `fused` applies the epilogue before the sum is rounded. */
interface Sum extends Overlap {
  readonly partials: Memory;
  readonly fused: boolean;
}

/** Bytes of the fp32 partial products `[split, M, N]`. */
export function partialBytes({ m, n }: MatmulPoint, split: number): number {
  return split * m * n * BYTES.f32;
}

/** Returns whether every slice's rows of A and B are whole 16-byte chunks at 16-byte addresses. */
export function isWhole(
  { point, operands }: LaunchContext,
  slice: number,
): boolean {
  const { n, k, lda, ldb, layout, type } = point;
  const chunk = 16 / BYTES[type];
  return [operands.A!, operands.B!].every(({ address }) =>
    address % 16n === 0n
  ) &&
    // The last slice ends where K does: what follows in a row is not the matrix's.
    [lda, ldb, slice, k, layout === "nn" ? n : k].every((x) => x % chunk === 0);
}

/** Elements of C of a block of the reducer for a column stride, and threads of each. */
const STRIDED = { columns: 32, groups: 8 };

/** The builds and launches of a backend. */
export class DecomposeSteps<T extends Tile> {
  constructor(readonly backend: DecomposeBackend<T>) {}

  /** The build of both reducers and the epilogue; where columns of C lie apart, of its reducer. */
  sums({ type, stepc }: MatmulPoint, overlap = false): Build {
    const { sums, strided } = this.backend;
    const source = stepc === 1 ? sums : strided;
    return overlapped({ source, defines: { TYPE: type } }, overlap);
  }

  /** The build of the partial products. */
  partialBuild(point: MatmulPoint, config: Split<T>, overlap = false): Build {
    return overlapped(this.backend.partial(point, config).build, overlap);
  }

  /** Writes the partial products of all K slices: `[SPLIT, M, N]` in fp32. */
  partial(
    site: LaunchContext,
    config: Split<T>,
    { partials, overlap }: Overlap & { readonly partials: Memory },
  ): Step {
    const { point, operands: { A, B } } = site;
    const { m, n, k, lda, ldb } = point;
    const slice = k / config.SPLIT;
    const { entry, shape, more = [] } = this.backend.partial(point, config);
    return launch(site, this.partialBuild(point, config, overlap), {
      entry,
      shape: overlap ? { ...shape, waits: true } : shape,
      args: [
        ...[A, B, partials, m, n, slice, lda, ldb, ...more],
        isWhole(site, slice),
      ],
    });
  }

  /** C = the sum of the slices by the tile-shaped reducer, a block for each tile. */
  sumTile(
    site: LaunchContext,
    config: Split<T>,
    { partials, fused }: Sum,
  ): Step {
    const { m, n, ldc } = site.point;
    const { BM, BN } = config;
    const { shape, more = [] } = this.backend.sumTile?.(site.point, config) ?? {
      shape: {
        grid: [Math.ceil(n / BN), Math.ceil(m / BM), 1],
        block: [this.backend.spread.threads, 1, 1],
      },
      more: [BM, BN],
    };
    const sizes = [m, n, config.SPLIT, ldc, ...more];
    return launch(site, this.sums(site.point), {
      entry: "sum_tile",
      shape,
      args: this.#args(site, { from: partials, sizes, fused }),
    });
  }

  /** C = the sum of `split` slices by the split-axis reducer. */
  sumSplit(
    site: LaunchContext,
    split: number,
    { partials, fused, overlap = false }: Sum,
  ): Step {
    const { m, n, ldc, stepc } = site.point;
    const { threads, columnBytes } = this.backend.spread;
    if (stepc !== 1) return this.#sumStrided(site, split, partials);
    // The more slices, the fewer columns.
    const columns = split <= threads / 2 ? 32 : split <= threads ? 16 : 8;
    return launch(site, this.sums(site.point, overlap), {
      entry: `sum_split_${columns}`,
      args: this.#args(site, {
        from: partials,
        sizes: [m, n, split, ldc],
        fused,
      }),
      shape: {
        grid: [Math.ceil(m * n / columns), 1, 1],
        block: [threads, 1, 1],
        ...(columnBytes > 0 ? { sharedBytes: columnBytes * columns } : {}),
        ...(overlap ? { overlap } : {}),
      },
    });
  }

  /** C = the sum of `split` slices where columns of C lie apart. */
  #sumStrided(site: LaunchContext, split: number, partials: Memory): Step {
    const { m, n, stepc } = site.point;
    const { columns, groups } = STRIDED;
    const isDynamic = this.backend.spread.columnBytes > 0;
    const sizes = [m, n, split, stepc];
    return launch(site, this.sums(site.point), {
      entry: "sum_strided",
      args: this.#args(site, { from: partials, sizes, fused: true }),
      shape: {
        grid: [Math.ceil(m * n / columns), 1, 1],
        block: [columns * groups, 1, 1],
        ...(isDynamic ? { sharedBytes: columns * groups * BYTES.f32 } : {}),
      },
    });
  }

  /** C = epilogue(`from`), whose rows are `ld` elements apart; `from` may be C. */
  epilogue(site: LaunchContext, from: Memory, ld: number): Step {
    const { m, n, ldc } = site.point;
    const { shape, more = [] } = this.backend.epilogue(site.point);
    const sizes = [m, n, ld, ldc, ...more];
    return launch(site, this.sums(site.point), {
      entry: "epilogue_kernel",
      shape,
      args: this.#args(site, { from, sizes, fused: true }),
    });
  }

  /** The arguments of a kernel that writes C; without `fused` it applies no epilogue. */
  #args(
    { point, operands: { bias, C } }: LaunchContext,
    { from, sizes, fused }: {
      readonly from: Memory;
      readonly sizes: readonly number[];
      readonly fused: boolean;
    },
  ) {
    const { nullPointers } = this.backend;
    const read = fused ? bias : undefined;
    return [
      ...[from, nullPointers ? read : read ?? C, C, ...sizes],
      fused && hasRelu(point),
      ...(nullPointers ? [] : [read !== undefined]),
    ];
  }
}

/** `build` for a kernel that is launched, or launches the next, before it is due. */
function overlapped(build: Build, overlap: boolean): Build {
  return overlap ? { ...build, defines: { ...build.defines, PDL: 1 } } : build;
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
  idea: "split-K into partial sums, then a reducer with the same tiles",
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
  const steps = new DecomposeSteps(backend);
  const kernel = (family: Family, variant: "fused" | "unfused" | "pdl") => {
    const tiles = family === TILE ? backend.tiles : backend.splitTiles;
    const fused = variant !== "unfused";
    const overlap = variant === "pdl";
    const idea = {
      fused: family.idea,
      unfused:
        `${family.name} at the same config, the epilogue as a kernel of its own`,
      pdl:
        `${family.name} at the same config, with programmatic dependent launch`,
    }[variant];
    return defineKernel<MatmulPoint, Split<T>>(op, {
      name: variant === "fused" ? family.name : `${family.name}-${variant}`,
      backend: backend.backend,
      idea,
      ...(variant === "fused" ? {} : { follows: family.name }),
      ...(variant === "fused" && family.reducer === "sum_split"
        ? { takes: ["stepc"] }
        : {}),
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
      startsEarly: () => overlap,
      builds: (point, config) => [
        steps.partialBuild(point, config, overlap),
        steps.sums(point, overlap),
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
