/**
 * Adds the kernels `auto` and `auto-library` to a suite.
 *
 * @module
 */

import type { Kernel } from "../bench/model/kernel_spec.ts";
import type { Op } from "../bench/model/op.ts";
import type { Suite } from "../bench/model/suite.ts";
import { autoKernel, type AutoKernelSpec } from "../bench/tune/auto_kernel.ts";
import { ops } from "./mod.ts";

/**
 * Returns `suite` with the kernels `names` of `AUTO_KERNELS` on each backend that it has kernels for.
 * They choose among all kernels of the operation and of the suite. A user's kernel of such a name
 * stays the user's.
 *
 * @param rowsOn Returns recorded rows of devices like one: the same array each time.
 * @param early Whether kernels that start before their predecessor ends are preferred to others.
 * @throws {UserError} If the suite cannot take them.
 */
export function withAuto(
  suite: Suite,
  names: readonly string[],
  rowsOn: AutoKernelSpec<never>["rowsOn"],
  early = false,
): Suite {
  const taken = new Set(suite.kernels.map(({ name }) => name));
  const added = names.filter((name) => !taken.has(name));
  return suite.beside((op, own) => {
    const kernels = [...new Set([...own, ...registered(op)])];
    const backends = [...new Set(own.map(({ backend }) => backend))];
    return backends.flatMap((backend) =>
      added.map((name) =>
        autoKernel(op, { name, backend, kernels, early, rowsOn })
      )
    );
  });
}

/** The kernels of the registered operation `op`; none of a user's. */
function registered<P>(op: Op<P>): readonly Kernel<P>[] {
  // The same operation: its kernels are of the same points.
  const found = ops.find((one) => one.op === op);
  return (found?.kernels ?? []) as readonly Kernel<P>[];
}
