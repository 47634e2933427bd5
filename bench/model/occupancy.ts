/**
 * Occupancy of a device: waves of blocks and blocks for each multiprocessor.
 *
 * For kernels' models ({@linkcode KernelSpec.predict}); nothing here is measured.
 *
 * @module
 */

import type { DeviceInfo } from "../device/device.ts";

/** Describes the waves of a grid on a device. A place is room for one block. */
export interface Waves {
  /** Number of waves. */
  readonly waves: number;
  /** Blocks divided by places: 1 if the grid exactly fills the device. */
  readonly fraction: number;
  /** Share of the places that the last wave uses. */
  readonly tail: number;
  /** Share of the places of all waves that is used. */
  readonly efficiency: number;
}

/**
 * Returns the waves of `blocks` on `units` multiprocessors that hold `perUnit` blocks each.
 *
 * @example 172 tiles on the 132 multiprocessors of an H100
 * ```ts
 * import { wavesOf } from "./occupancy.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const { waves, tail, efficiency } = wavesOf(172, 132);
 * strictEqual(waves, 2);
 * strictEqual(tail.toFixed(3), "0.303");
 * strictEqual(efficiency.toFixed(3), "0.652");
 * ```
 */
export function wavesOf(blocks: number, units: number, perUnit = 1): Waves {
  const places = Math.max(1, units * perUnit);
  const waves = Math.max(1, Math.ceil(blocks / places));
  const last = blocks - (waves - 1) * places;
  return {
    waves,
    fraction: blocks / places,
    tail: last / places,
    efficiency: blocks / (waves * places),
  };
}

/** Lists the resources of a block. */
export interface BlockNeeds {
  readonly threads: number;
  /** Bytes of shared memory, static and dynamic. @default {0} */
  readonly sharedBytes?: number;
  /** Registers of a thread. @default {not limiting} */
  readonly registers?: number;
}

/**
 * NVIDIA's limits of a multiprocessor from compute capability 8.0 on (CUDA C Programming
 * Guide, technical specifications). 8.6 to 8.9 hold 1536 threads and 16 to 24 blocks.
 */
const UNIT = { threads: 2048, blocks: 32, registers: 65_536 };
/** Shared memory that the system takes of each block, from 8.0 on. */
const RESERVED = 1024;
/** Registers are given to a warp in units of so many (ibid.). */
const WARP_REGISTERS = 256;
const WARP = 32;

/**
 * Returns how many blocks fit on a multiprocessor at once, limited by threads, blocks,
 * shared memory and registers; 0 if none fits.
 *
 * @example Rings of 32 KiB a stage: two stages fit three times, four stages once
 * ```ts
 * import { blocksPerUnit } from "./occupancy.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const h100 = { sharedBytes: 227 * 1024 };
 * strictEqual(blocksPerUnit({ threads: 128, sharedBytes: 2 << 15 }, h100), 3);
 * strictEqual(blocksPerUnit({ threads: 128, sharedBytes: 4 << 15 }, h100), 1);
 * ```
 */
export function blocksPerUnit(
  { threads, sharedBytes = 0, registers }: BlockNeeds,
  info: Pick<DeviceInfo, "sharedBytes">,
): number {
  const warps = Math.ceil(threads / WARP);
  const limits = [UNIT.blocks, Math.floor(UNIT.threads / (warps * WARP))];
  // A multiprocessor has what one block may use and what the system takes of it.
  if (info.sharedBytes > 0) {
    limits.push(
      Math.floor((info.sharedBytes + RESERVED) / (sharedBytes + RESERVED)),
    );
  }
  if (registers !== undefined) {
    const warp = Math.ceil(registers * WARP / WARP_REGISTERS) * WARP_REGISTERS;
    limits.push(Math.floor(UNIT.registers / warp / warps));
  }
  return Math.max(0, Math.min(...limits));
}
