/**
 * Defines the kernels `auto` and `auto-library`, which run what {@linkcode chooseAuto} chooses.
 *
 * @module
 */

import type { Device, DeviceInfo } from "../device/device.ts";
import { CaseError } from "../model/errors.ts";
import { formatValues, type Values } from "../model/grid.ts";
import type { Kernel } from "../model/kernel_spec.ts";
import type { Op } from "../model/op.ts";
import { type AutoChoice, chooseAuto, chosenBy, KERNEL } from "./auto.ts";
import type { HintRow } from "./hints.ts";

/** The kernels that choose for themselves, with their ideas. */
export const AUTO_KERNELS: Readonly<Record<string, string>> = {
  auto:
    "the kernel and config that recorded rows and models put first, without measuring",
  "auto-library": "the same, the vendor's library among the kernels",
};

/** Returns whether `name` is one of {@linkcode AUTO_KERNELS}. */
export function isAuto(name: string): boolean {
  return Object.hasOwn(AUTO_KERNELS, name);
}

/** The kernel that may choose the vendor's library. */
const WITH_LIBRARY = "auto-library";

/** What a kernel chooses among. */
export interface AutoKernelSpec<P> {
  /** One of {@linkcode AUTO_KERNELS}. */
  readonly name: string;
  readonly backend: string;
  readonly kernels: readonly Kernel<P>[];
  /** Whether kernels that start before their predecessor ends are preferred to others. @default {false} */
  readonly early?: boolean;
  /** Returns recorded rows of devices like `info`: the same array each time. */
  rowsOn(info: DeviceInfo): readonly HintRow[];
}

/**
 * Defines the kernel `name` of `op`. Its only config is that of the chosen kernel after the name of
 * this: `kernel=decompose-k BM=16 SPLIT=8`. Binaries, steps and tolerance are those of the chosen
 * kernel.
 */
export function autoKernel<P>(
  op: Op<P>,
  { name, backend, kernels, early = false, rowsOn }: AutoKernelSpec<P>,
): Kernel<P> {
  const library = name === WITH_LIBRARY;
  type Asked = readonly [point: P, info: DeviceInfo, device?: Device];
  let last: { asked: Asked; choice: AutoChoice<P> } | undefined;
  // A case asks several times, and to list the configs of all kernels takes up to a second.
  const choice = (...asked: Asked): AutoChoice<P> => {
    const [point, info, device] = asked;
    const isSame = last?.asked.length === asked.length &&
      last.asked.every((one, i) => one === asked[i]);
    if (last && isSame) return last.choice;
    const choice = chooseAuto(point, {
      op,
      kernels,
      backend,
      info,
      library,
      early,
      rows: rowsOn(info),
      ...(device ? { device } : {}),
    });
    last = { asked, choice };
    return choice;
  };
  const offer = ({ kernel, config, by }: AutoChoice<P>) => [{
    config: { [KERNEL]: kernel.name, ...config },
    by,
  }];
  const inner = (config: Values): readonly [Kernel<P>, Values] => {
    const chosen = chosenBy(config);
    const kernel = kernels.find((one) =>
      one.name === chosen?.kernel && one.backend === backend
    );
    if (kernel && chosen) return [kernel, chosen.config];
    throw new CaseError(
      "unsupported",
      `No kernel of ${op.name} on ${backend} is named in ${
        formatValues(config)
      }`,
    );
  };
  return {
    name,
    backend,
    idea: AUTO_KERNELS[name] ?? "",
    ...(library ? { library } : {}),
    unsupported(point, info) {
      try {
        choice(point, info);
      } catch (error) {
        if (error instanceof CaseError) return error.message;
        throw error;
      }
    },
    candidates: (point, info) => offer(choice(point, info)),
    ...(library
      ? {
        offers: (point: P, device: Device) =>
          offer(choice(point, device.info, device)),
      }
      : {}),
    builds(point, config) {
      const [kernel, own] = inner(config);
      return kernel.builds(point, own);
    },
    tolerance(point, config) {
      const [kernel, own] = inner(config);
      return kernel.tolerance?.(point, own) ?? op.tolerance(point);
    },
    prepare(context) {
      const [kernel, config] = inner(context.config);
      return kernel.prepare({ ...context, config });
    },
  };
}
