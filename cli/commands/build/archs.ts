/**
 * Architectures that can be built for without such a device at hand.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import { UserError } from "../../../bench/model/errors.ts";

interface Arch {
  readonly pattern: RegExp;
  readonly backend: string;
  readonly name: string;
  /** Multiprocessors or compute units of the largest device sold: what configs are laid out for. */
  readonly units: number;
  /** Bytes of shared memory that a block may use. */
  readonly sharedBytes: number;
}

const KIB = 1024;

/**
 * NVIDIA's figures are the largest dynamic shared memory per block of the CUDA C
 * Programming Guide's table of technical specifications; AMD's is the local data share of
 * a workgroup in the CDNA 3 instruction set's manual.
 */
const ARCHS: readonly Arch[] = [
  {
    pattern: /^sm_90a?$/,
    backend: "cuda",
    name: "NVIDIA GPU",
    units: 132,
    sharedBytes: 227 * KIB,
  },
  {
    pattern: /^sm_(100|103)[af]?$/,
    backend: "cuda",
    name: "NVIDIA GPU",
    units: 148,
    sharedBytes: 227 * KIB,
  },
  {
    pattern: /^sm_(80|87)$/,
    backend: "cuda",
    name: "NVIDIA GPU",
    units: 108,
    sharedBytes: 163 * KIB,
  },
  {
    pattern: /^sm_(86|89|120|121)[af]?$/,
    backend: "cuda",
    name: "NVIDIA GPU",
    units: 128,
    sharedBytes: 99 * KIB,
  },
  {
    pattern: /^gfx\d+[a-f]?$/,
    backend: "hip",
    name: "AMD GPU",
    units: 304,
    sharedBytes: 64 * KIB,
  },
  {
    pattern: /^applegpu_g\d+[a-z]$/,
    backend: "metal",
    name: "Apple GPU",
    units: 40,
    sharedBytes: 32 * KIB,
  },
  {
    pattern: /^(x86_64|aarch64|arm64)\b/,
    backend: "cpu",
    name: "CPU",
    units: 1,
    sharedBytes: 0,
  },
];

/** Compute capability 9.0 and later: CUDA C Programming Guide, "Feature Support". */
const TENSOR_MAPS = /^sm_(9\d|1\d\d)/;

/**
 * A stand-in for a device of `arch`, and its backend.
 *
 * @throws {UserError} For a name of no known architecture.
 */
export function archInfo(
  arch: string,
): { readonly backend: string; readonly info: DeviceInfo } {
  const known = ARCHS.find(({ pattern }) => pattern.test(arch));
  if (known === undefined) {
    throw new UserError(
      `No architecture is named ${arch}: give one such as sm_90a, gfx942 or x86_64`,
    );
  }
  const { backend, name, units, sharedBytes } = known;
  return {
    backend,
    info: {
      index: 0,
      name,
      arch,
      units,
      cacheBytes: 0,
      flushBytes: 0,
      sharedBytes,
      driver: "",
      tensorMaps: TENSOR_MAPS.test(arch),
    },
  };
}
