/**
 * The list of backends, in the order in which `bench` prefers them.
 *
 * @module
 */

import type { Backend } from "../bench/device/device.ts";
import { cpu } from "./cpu/cpu.ts";
import { cuda } from "./cuda/cuda.ts";
import { hip } from "./hip/hip.ts";
import { metal } from "./metal/metal.ts";

/** GPUs first: a machine that has one is benchmarked on it. */
export const backends: readonly Backend[] = [cuda(), hip(), metal(), cpu];
