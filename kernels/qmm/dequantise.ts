/**
 * Steps that convert weights from their stored form to 16 bits and back, on the CPU and on CUDA.
 *
 * @module
 */

import type { Build, Program } from "../../bench/device/device.ts";
import { i64, type Memory, type Step } from "../../bench/device/queue.ts";
import type { Operands } from "../../bench/model/problem.ts";
import { isChannel } from "../../bench/formats/quant_format.ts";
import { launch } from "../common/launch.ts";
import {
  formatArgs,
  type QmmPoint,
  weightMemory,
  weightShape,
} from "./point.ts";

const THREADS = 256;
/** Blocks at most: enough to fill any device. */
const MOST_BLOCKS = 1 << 14;

const ON_CPU: Build = {
  source: new URL("./cpu/plain.c", import.meta.url),
  defines: {},
};

/** The translation unit of both directions. */
export function conversionBuild(
  backend: "cpu" | "cuda",
  { type, mode, bits }: QmmPoint,
): Build {
  return backend === "cpu" ? ON_CPU : {
    source: new URL("./cuda/dequantise.cu", import.meta.url),
    defines: { TYPE: type, MODE: mode.toUpperCase(), BITS: bits },
  };
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
  backend: "cpu" | "cuda",
  site: Conversion,
): Step {
  const { point, operands, dense } = site;
  const { rows, cols } = weightShape(point);
  return converted(backend, site, {
    entry: "dequantise",
    memory: [...weightMemory(operands), dense],
    count: rows * cols,
    blocks: Math.min(MOST_BLOCKS, Math.ceil(rows * cols / 8 / THREADS)),
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

/** The launch of one direction: C takes rows and columns, CUDA the `count` of what threads share. */
function converted(
  backend: "cpu" | "cuda",
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
      args: [...memory, i64(count), point.group],
      shape: { grid: [blocks, 1, 1], block: [THREADS, 1, 1] },
    });
}
