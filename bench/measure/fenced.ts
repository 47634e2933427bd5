/**
 * Runs a kernel once on operands between memory that nothing may touch, its inputs read-only.
 *
 * @module
 */

import { anyPoison } from "./assert_close.ts";
import type { BenchContext } from "./context.ts";
import type { OperandSet } from "./operands.ts";
import { CaseError } from "../model/errors.ts";
import type { Values } from "../model/grid.ts";
import type { Memory } from "../device/queue.ts";
import type { Case } from "../model/suite.ts";

/**
 * Demands that a call of `c` reads and writes nothing but its operands, and writes to no input.
 *
 * @param set The operands whose values it is given.
 * @returns A note where that could not be seen for lack of memory.
 * @throws {CaseError} `wrong`, and `launch` where the device stopped the call.
 */
export async function checkFenced(
  c: Case,
  { context, set, config }: {
    context: BenchContext;
    set: OperandSet;
    config: Values;
  },
): Promise<string> {
  using fence = context.instruments.fence();
  if (fence === undefined) return "";
  const { device } = context;
  const operands: Record<string, Memory> = {};
  try {
    for (const { operand: { name, role }, part } of set.placed) {
      const memory = fence.alloc(part.bytes);
      operands[name] = memory;
      if (role === "in") memory.copyFrom(part);
      else memory.fill(anyPoison(context.below));
    }
  } catch (error) {
    if (!(error instanceof CaseError) || error.failure !== "oom") throw error;
    return "too large to look for accesses out of bounds";
  }
  device.synchronize();
  for (const { operand: { name } } of set.ins) fence.seal(operands[name]!);
  using prepared = await context.prepare(c, { config, operands });
  prepared.run();
  try {
    device.synchronize();
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    throw new CaseError(
      error.failure,
      `the call failed (operands unpadded, inputs read-only): ${error.message}`,
      { cause: error },
    );
  }
  context.pulse.beat();
  for (const { operand: { name } } of set.placed) {
    const seen = fence.seen?.(operands[name]!);
    if (seen) throw new CaseError("wrong", `${name}: ${seen}`);
  }
  return "";
}
