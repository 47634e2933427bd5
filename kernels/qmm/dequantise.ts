/**
 * Steps that convert weights from their stored form to 16 bits and back, on the CPU and on CUDA.
 *
 * @module
 */

import type { Build, Program } from "../../bench/device/device.ts";
import {
  i32,
  i64,
  mem,
  type Memory,
  type Step,
} from "../../bench/device/queue.ts";
import type { Operands } from "../../bench/model/problem.ts";
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
  source: new URL("./cpu/dequantise.c", import.meta.url),
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
  { point, operands, dense, program }: Conversion,
): Step {
  const { rows, cols } = weightShape(point);
  const entry = program(conversionBuild(backend, point), "dequantise");
  const memory = [...weightMemory(operands), mem(dense)];
  if (backend === "cpu") {
    const args = [...memory, i32(rows), i32(cols), ...formatArgs(point)];
    return entry.step(args, { grid: [1, 1, 1], block: [1, 1, 1] });
  }
  const blocks = Math.ceil(rows * cols / 8 / THREADS);
  return entry.step([...memory, i64(rows * cols), i32(point.group)], {
    grid: [Math.min(MOST_BLOCKS, blocks), 1, 1],
    block: [THREADS, 1, 1],
  });
}

/** Writes the stored weights from `dense`. */
export function quantiseStep(
  backend: "cpu" | "cuda",
  { point, operands, dense, program }: Conversion,
): Step {
  const { rows, cols } = weightShape(point);
  const entry = program(conversionBuild(backend, point), "quantise");
  const memory = [mem(dense), ...weightMemory(operands)];
  if (backend === "cpu") {
    const args = [...memory, i32(rows), i32(cols), ...formatArgs(point)];
    return entry.step(args, { grid: [1, 1, 1], block: [1, 1, 1] });
  }
  const groups = rows * cols / point.group;
  return entry.step([...memory, i64(groups), i32(point.group)], {
    grid: [Math.ceil(groups / THREADS), 1, 1],
    block: [THREADS, 1, 1],
  });
}
