/**
 * What a tensor map describes: a matrix in device memory and the boxes in which kernels copy it.
 *
 * @module
 */

import type { Arg, Device, Memory } from "./device.ts";
import type { DType } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";

/**
 * A row-major matrix and one size of boxes, in elements. What a box has outside of the matrix
 * comes as zeros.
 */
export interface TensorShape {
  readonly type: DType;
  readonly rows: number;
  readonly columns: number;
  /** From a row to the next; their bytes must be a multiple of 16. */
  readonly ld: number;
  /** Rows of a box, 1 to 256. */
  readonly boxRows: number;
  /** Columns of a box, of 128, 64 or 32 bytes: the swizzle in shared memory is that of them. */
  readonly boxColumns: number;
}

/**
 * Makes a tensor map of `memory` on `device`.
 *
 * @throws {CaseError} `unsupported`, where `device` has none; `launch`, where it refuses this one.
 */
export function tensorMapOn(
  device: Device,
  memory: Memory,
  shape: TensorShape,
): Arg {
  if (device.tensorMap) return device.tensorMap(memory, shape);
  const { name, arch, driver } = device.info;
  throw new CaseError(
    "unsupported",
    `${name} (${arch}) with driver ${driver} has no tensor maps: a GPU of sm_90 or later with a driver of CUDA 12 or later has`,
  );
}
