/**
 * Steps that convert weights from their stored form to 16 bits and back, and the library's product
 * of 16-bit weights. On Metal weights are only brought to 16 bits.
 *
 * @module
 */

import type { Build, Program } from "../../bench/device/device.ts";
import { i64, type Memory, type Step } from "../../bench/device/queue.ts";
import type { Operands } from "../../bench/model/problem.ts";
import { isChannel } from "../../bench/formats/quant_format.ts";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../bench/model/kernel_spec.ts";
import { blasOf } from "../common/blas.ts";
import { launch } from "../common/launch.ts";
import { qmm } from "./op.ts";
import {
  formatArgs,
  type QmmPoint,
  weightMemory,
  weightShape,
} from "./point.ts";

const THREADS = 256;
/** Weights of a thread. */
const CODES = 8;
/** Blocks at most: enough to fill any device. */
const MOST_BLOCKS = 1 << 14;

const ON_CPU: Build = {
  source: new URL("./cpu/plain.c", import.meta.url),
  defines: {},
};

/** The backends that convert. */
type Backend = "cpu" | "cuda" | "metal";

/** The translation unit of both directions. */
export function conversionBuild(
  backend: Backend,
  { type, mode, bits }: QmmPoint,
): Build {
  const defines = { TYPE: type, MODE: mode.toUpperCase(), BITS: bits };
  return {
    cpu: ON_CPU,
    cuda: {
      source: new URL("./cuda/dequantise.cu", import.meta.url),
      defines,
    },
    metal: {
      source: new URL("./metal/dequantise.metal", import.meta.url),
      defines: { ...defines, AFFINE_MODE: Number(mode === "affine") },
    },
  }[backend];
}

/** The memory and programs of a conversion. */
interface Conversion {
  readonly point: QmmPoint;
  readonly operands: Operands;
  /** The weights as a row-major array of the point's type. */
  readonly dense: Memory;
  /** An entry of what {@linkcode conversionBuild} names. */
  program(build: Build, entry: string): Program;
}

/** Bytes of the 16-bit weights. */
export function denseBytes(point: QmmPoint): number {
  const { rows, cols } = weightShape(point);
  return 2 * rows * cols;
}

/** Writes `dense` from the stored weights. */
export function dequantiseStep(
  backend: Backend,
  site: Conversion,
): Step {
  const { point, operands, dense } = site;
  const { rows, cols } = weightShape(point);
  return converted(backend, site, {
    entry: "dequantise",
    memory: [...weightMemory(operands), dense],
    count: rows * cols,
    blocks: Math.min(
      backend === "cuda" ? MOST_BLOCKS : Infinity,
      Math.ceil(rows * cols / CODES / THREADS),
    ),
  });
}

/**
 * Writes the stored weights from `dense`.
 *
 * @throws {RangeError} For one scale a row, whose weights the kernels have no room for.
 */
export function quantiseStep(
  backend: "cpu" | "cuda",
  site: Conversion,
): Step {
  const { point, operands, dense } = site;
  const { rows, cols } = weightShape(point);
  if (isChannel(point)) {
    throw new RangeError(
      `Cannot quantise groups of ${point.group} on ${backend}: the host does`,
    );
  }
  const groups = rows * cols / point.group;
  return converted(backend, site, {
    entry: "quantise",
    memory: [dense, ...weightMemory(operands)],
    count: groups,
    blocks: Math.ceil(groups / THREADS),
  });
}

/**
 * The decoding of all weights, and the library's product of the 16-bit ones.
 *
 * @throws {CaseError} `unsupported`, where there is no library, or none for the type.
 */
export function libraryParts(
  backend: "cuda" | "metal",
  context: Context<QmmPoint, Values>,
): readonly [decode: Step, multiply: Step] {
  const { point, operands, device, alloc } = context;
  const { m, n, k, type, transposed } = point;
  const blas = blasOf(device);
  const dense = alloc(denseBytes(point));
  return [
    dequantiseStep(backend, { ...context, dense }),
    blas.gemm({
      m,
      n,
      k,
      a: { memory: operands.x!, type, ld: k },
      b: { memory: dense, type, ld: weightShape(point).cols, transposed },
      c: { memory: operands.y!, type, ld: n },
    }),
  ];
}

/** The library on 16-bit weights, decoded before the clock starts: the baseline of quantisation. */
export function libraryKernel(
  name: string,
  backend: "cuda" | "metal",
): Kernel<QmmPoint> {
  return defineKernel(qmm, {
    name,
    backend,
    idea: "the library on 16-bit weights, decoded before the clock starts",
    library: true,
    builds: (point) => [conversionBuild(backend, point)],
    prepare(context) {
      const [decode, multiply] = libraryParts(backend, context);
      return { setup: [decode], steps: [multiply] };
    },
  });
}

/**
 * The launch of one direction: C takes rows and columns, CUDA the `count` of what threads share,
 * Metal that of eights.
 */
function converted(
  backend: Backend,
  site: Conversion,
  { entry, memory, count, blocks }: {
    readonly entry: string;
    readonly memory: readonly (Memory | undefined)[];
    readonly count: number;
    readonly blocks: number;
  },
): Step {
  const { point } = site;
  const { rows, cols } = weightShape(point);
  const build = conversionBuild(backend, point);
  return backend === "cpu"
    ? launch(site, build, {
      entry,
      args: [...memory, rows, cols, ...formatArgs(point)],
    })
    : launch(site, build, {
      entry,
      args: [
        ...memory,
        backend === "cuda" ? i64(count) : count / CODES,
        point.group,
      ],
      shape: { grid: [blocks, 1, 1], block: [THREADS, 1, 1] },
    });
}
