/**
 * What a tensor map describes: a matrix in device memory and the boxes in which kernels copy it.
 *
 * @module
 */

import type { Device } from "./device.ts";
import type { Arg, Memory } from "./queue.ts";
import { CaseError } from "../model/errors.ts";
import type { TensorShape } from "./tensor_shape.ts";

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
