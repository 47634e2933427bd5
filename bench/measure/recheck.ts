/**
 * What timed plans leave behind: of the last sample, and of one more call like it.
 *
 * @module
 */

import { unwritten, worse } from "./assert_close.ts";
import type { Values } from "../model/grid.ts";
import type { OperandSet } from "./operands.ts";
import type { BenchContext } from "./context.ts";
import type { Accuracy } from "../row/row.ts";
import type { Case } from "../model/suite.ts";
import type { Timed } from "./timed.ts";
import { verify, WrongError } from "./verify.ts";

const STOPPED = "right at first, but not when called again after timing: ";

/**
 * How right `timed` still is, by the path that was timed. The last sample alone would not
 * say: a kernel that stopped working in the midst of them leaves what an earlier call wrote.
 * So the outputs become poison, and every set has one more call. Of the first set every
 * element is compared; of the others, which have no reference, every element must be there.
 *
 * @throws {CaseError} `wrong`: a {@linkcode WrongError}.
 */
export async function recheck(
  c: Case,
  { context, sets, config, timed }: {
    context: BenchContext;
    sets: readonly OperandSet[];
    config: Values;
    timed: Timed;
  },
): Promise<Accuracy> {
  const [set, ...others] = sets as [OperandSet, ...OperandSet[]];
  const last = await verify(c, {
    context,
    set,
    config,
    when: "after timing, ",
  });
  for (const one of sets) one.poison();
  timed.again();
  context.device.synchronize();
  const again = await verify(c, { context, set, config, when: STOPPED });
  const accuracy = worse(last, again);
  for (const [i, other] of others.entries()) {
    const wrong = other.outputs().map(unwritten).find((one) => one);
    if (wrong === undefined) continue;
    const which = `${STOPPED}with input set ${i + 2} of ${sets.length}, `;
    throw new WrongError(which + wrong, accuracy);
  }
  return accuracy;
}
