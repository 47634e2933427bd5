/**
 * The backends by name. Each is loaded when it is asked for.
 *
 * @module
 */

import type { Backend } from "../bench/device/device.ts";

/** Loads backends by their names. */
export type Backends = Readonly<Record<string, () => Promise<Backend>>>;

/** GPUs first: a machine that has one is benchmarked on it. */
export const backends: Backends = {
  cuda: async () => (await import("./cuda/cuda.ts")).cuda(),
  hip: async () => (await import("./hip/hip.ts")).hip(),
  metal: async () => (await import("./metal/metal.ts")).metal(),
  cpu: async () => (await import("./cpu/cpu.ts")).cpu,
};

/** Loads all backends, in the order in which `bench` prefers them. */
export function allBackends(): Promise<readonly Backend[]> {
  return Promise.all(Object.values(backends).map((load) => load()));
}
