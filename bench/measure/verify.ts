/**
 * Verifies a kernel's outputs.
 *
 * @module
 */

import {
  compareAll,
  compareAt,
  mismatchNote,
  unwritten,
  worse,
} from "./assert_close.ts";
import { CaseError } from "../model/errors.ts";
import type { Values } from "../model/grid.ts";
import { productsIn } from "../model/problem.ts";
import type { OperandSet, Right } from "./operands.ts";
import { sampleCrossings } from "./spread.ts";
import type { BenchContext } from "./context.ts";
import type { Accuracy } from "../row/row.ts";
import type { Case } from "../model/suite.ts";
import type { Timed } from "./timed.ts";

/** A wrong output, and by how much. */
export class WrongError extends CaseError {
  /**
   * @param message Where it is wrong.
   * @param contained Whether all that is wrong lies within the outputs. @default {false}
   */
  constructor(
    message: string,
    readonly accuracy: Accuracy,
    readonly contained = false,
  ) {
    super("wrong", message);
  }
}

/**
 * Compares what the config left in the outputs, as they are now, with the reference.
 *
 * @throws {CaseError} `wrong`: a {@linkcode WrongError}.
 */
export async function verify(
  c: Case,
  { context, set, config, when, stored = set.outputs(), inputs = true }: {
    context: BenchContext;
    set: OperandSet;
    config: Values;
    when: string;
    /** The outputs. @default {those of `set`, copied now} */
    stored?: ReturnType<OperandSet["outputs"]>;
    /** Whether inputs are looked at too, which takes longest. @default {true} */
    inputs?: boolean;
  },
): Promise<Accuracy> {
  const { problem } = c;
  const tolerance = c.tolerance?.(config) ?? problem.tolerance;
  const right = await context.reference(problem);
  const outputs = stored.map((output, i) => ({
    ...output,
    right: right.values[i]!,
    terms: right.terms[i],
  }));
  const { accuracy, wrong } = compareAll(outputs, tolerance, bitsAsked(c));
  const damage = set.damage(inputs || wrong !== undefined);
  const what = wrong ?? damage;
  if (what) throw new WrongError(when + what, accuracy, !damage);
  return accuracy;
}

/**
 * Returns the least effective bits of a result; undefined where any number will do. A kernel that
 * rounds more often says so by a tolerance of its own.
 */
export function bitsAsked(
  { tolerance, problem }: Pick<Case, "tolerance" | "problem">,
): number | undefined {
  return tolerance ? undefined : problem.bits;
}

/** Returns the note about a tolerance that is not the operation's own. */
export function toleranceNote(
  { tolerance, problem }: Case,
  config: Values,
): string {
  if (tolerance === undefined) return "";
  const { rtol, atol } = tolerance(config);
  // As of a kernel that chooses among others.
  if (rtol === problem.tolerance.rtol && atol === problem.tolerance.atol) {
    return "";
  }
  const short = (x: number) => `${Number(x.toPrecision(3))}`;
  return `right to within ${short(atol)} + ${short(rtol)}·|x|, others ${
    short(problem.tolerance.atol)
  } + ${short(problem.tolerance.rtol)}·|x|`;
}

const STOPPED = "right at first, but not when called again after timing: ";

/**
 * Verifies `timed` again, by the path that was timed. The last sample alone would not
 * say: a kernel that stopped working in the midst of them leaves what an earlier call wrote.
 * So the outputs become poison, and every set has one more call. Of the first set every
 * element is compared; of the others every element must be there, and some are compared.
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
  const again = await verify(c, {
    context,
    set,
    config,
    when: STOPPED,
    inputs: false,
  });
  const accuracy = worse(last, again);
  for (const [i, other] of others.entries()) {
    const wrong = wrongIn(other, {
      c,
      config,
      context,
      sets: sets.length,
      right: other.isCopyOf(set)
        ? (await context.reference(c.problem)).values
        : undefined,
    });
    context.pulse.beat();
    if (wrong === undefined) continue;
    const which = `${STOPPED}with input set ${i + 2} of ${sets.length}, `;
    throw new WrongError(which + wrong, accuracy);
  }
  return accuracy;
}

/** Multiplications of elements that are compared in the outputs of all sets but the first. */
const PRODUCTS = 1 << 21;
/** Rows and columns of each of these in which two elements are compared. */
const LINES = { least: 2, most: 16 };

/** The first error in what `set` holds, of which some elements are compared. */
function wrongIn(
  set: OperandSet,
  { c, config, context, sets, right: known }: {
    c: Case;
    config: Values;
    context: BenchContext;
    sets: number;
    /** The right outputs, where they are those of the first set. */
    right: Right["values"] | undefined;
  },
): string | undefined {
  const { problem } = c;
  const tolerance = c.tolerance?.(config) ?? problem.tolerance;
  const fit = Math.floor(PRODUCTS / productsIn(problem) / sets / 2);
  const lines = Math.max(LINES.least, Math.min(LINES.most, fit));
  const reference = known ? undefined : problem.reference(set.inputs);
  for (const [i, output] of set.outputs().entries()) {
    const missing = unwritten(output);
    if (missing !== undefined) return missing;
    const { indices } = sampleCrossings(output.operand, lines, context.below);
    const right = reference?.at(i, indices) ??
      Float64Array.from(indices, (index) => known![i]![index]!);
    const [wrong] = compareAt({ ...output, right }, indices, tolerance).wrong;
    if (wrong) return mismatchNote(output.operand, wrong);
  }
}
