/**
 * Looks for what moves times on a machine, before anything is measured on it.
 *
 * @module
 */

import type { Backend, DeviceInfo } from "./device.ts";
import { systemText } from "./system_files.ts";

/** Share of the cores that other work may take, as Linux counts over a minute. */
const BUSY = 0.5;
const GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/** What is known of the host; undefined where it is not. */
export interface Host {
  /** Processes that run or want to, the mean of a minute. */
  readonly load: number | undefined;
  readonly cores: number;
  /** Linux's policy of the CPU's clock. */
  readonly governor: string | undefined;
}

/** Lists what moves times on the device `info` and on its host. */
export function findDisturbances(
  backend: Pick<Backend, "machine">,
  info: DeviceInfo,
): readonly string[] {
  return [...backend.machine?.(info) ?? [], ...hostDisturbances()];
}

/** Lists other load, as `load=1.5` for each core, and a governor that is not `performance`. */
export function hostDisturbances(
  { load = 0, cores, governor = "performance" }: Host = thisHost(),
): readonly string[] {
  return [
    ...(load > BUSY * cores ? [`load=${(load / cores).toFixed(1)}`] : []),
    ...(governor === "performance" ? [] : [`governor=${governor}`]),
  ];
}

/** Says in a sentence what each entry of {@linkcode findDisturbances} is. */
export function disturbanceTexts(found: readonly string[]): readonly string[] {
  return found.map((one) => {
    const [name, value] = one.split("=");
    switch (name) {
      case "load":
        return `Other programs keep the CPU busy (load ${value} for each core): times may vary`;
      case "governor":
        return `The CPU's clock has the policy ${value}, not performance: times may vary`;
      default:
        return `Not the usual state of the GPU (${one}): times may vary`;
    }
  });
}

function thisHost(): Host {
  return {
    // Windows has none, and says 0.
    load: Deno.loadavg()[0],
    cores: navigator.hardwareConcurrency,
    governor: governor(),
  };
}

function governor(): string | undefined {
  if (Deno.build.os !== "linux") return undefined;
  return systemText([GOVERNOR]).trim() || undefined;
}
