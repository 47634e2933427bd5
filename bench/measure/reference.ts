/**
 * The right outputs of a problem: from the host, or from a plain f64 kernel on the
 * device that the host has checked.
 *
 * @module
 */

import { spreadIndices } from "./assert_close.ts";
import { BYTES, decode } from "../model/dtype.ts";
import type { OperandSet } from "./operands.ts";
import type { Device } from "../device/device.ts";
import type { PreparedPlan } from "./prepared_plan.ts";
import type { Values } from "../model/grid.ts";
import type { Operands } from "../model/problem.ts";
import type { Runnable } from "../model/suite.ts";

/** Flops above which the host's reference would take seconds. */
export const HOST_FLOPS = 1e9;
const SAMPLE = 256;
/** Both accumulate in f64; only the order of the sums differs. */
const AGREEMENT = 1e-9;

/** Runs plans for a reference: an open device, and building for it. */
export interface ReferenceRunner {
  readonly device: Device;
  readonly options: { readonly backend: { readonly name: string } };
  prepare(
    runnable: Runnable,
    options: { readonly config: Values; readonly operands: Operands },
  ): Promise<PreparedPlan>;
}

/** `rows × cols` values of each output of the problem of `set`, unpadded. */
export function referenceOf(
  set: OperandSet,
  context: ReferenceRunner,
): Promise<readonly Float64Array[]> {
  const { problem, inputs } = set;
  const kernel = problem.work.flops > HOST_FLOPS
    ? problem.referenceKernel(context.options.backend.name)
    : undefined;
  if (kernel) return judged(set, { context, kernel });
  const host = problem.reference(inputs);
  const outputs = problem.operands.filter((o) => o.role === "out");
  return Promise.resolve(outputs.map((_, i) => host.all(i)));
}

/** The outputs of the reference kernel, once a golden-ratio sample of them agrees with the host's. */
async function judged(
  { problem, inputs, memory }: OperandSet,
  { context, kernel }: { context: ReferenceRunner; kernel: Runnable },
): Promise<Float64Array[]> {
  using scope = new DisposableStack();
  const outputs = problem.operands.filter((o) => o.role === "out").map(
    ({ name, rows, cols }) => ({
      name,
      memory: scope.use(context.device.alloc(rows * cols * BYTES.f64)),
    }),
  );
  const own = Object.fromEntries(outputs.map((o) => [o.name, o.memory]));
  using prepared = await context.prepare(kernel, {
    config: {},
    operands: { ...memory, ...own },
  });
  prepared.run();
  context.device.synchronize();
  const host = problem.reference(inputs);
  return outputs.map(({ memory }, output) => {
    const right = decode(memory.download(), "f64");
    const indices = spreadIndices(right.length, SAMPLE);
    host.at(output, indices).forEach((want, i) => {
      const got = right[indices[i]!]!;
      if (!(Math.abs(got - want) <= AGREEMENT * (1 + Math.abs(want)))) {
        throw new Error(
          `Cannot trust the f64 reference on ${context.device.info.name}: element ${
            indices[i]
          } is ${got}, the host has ${want}`,
        );
      }
    });
    return right;
  });
}
