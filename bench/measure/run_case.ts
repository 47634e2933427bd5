/**
 * Runs one case, from its operands to its row: the spine of a worker.
 *
 * @module
 */

import { CaseError } from "../model/errors.ts";
import type { Case } from "../model/suite.ts";
import type { BenchContext } from "./context.ts";
import { CaseRun, type Outcome } from "./case_run.ts";

export type { Outcome } from "./case_run.ts";

/**
 * Builds, checks and times `c`. A failing kernel gives a row, not an exception.
 *
 * @throws {ConfigLostError} Where a config of its search made the device unusable: another
 * worker goes on with the others.
 */
export async function run(c: Case, context: BenchContext): Promise<Outcome> {
  using life = new CaseRun(c, context);
  try {
    life.demandSupport(); // or: unsupported
    life.bind(); //          inputs uploaded, outputs poisoned between guard bands
    await life.choose(); //  one legal config: known, cached, or the winner of a search
    await life.build(); //   binaries from the cache or the compiler, loaded, packed
    await life.check(); //   every element against f64, twice
    const { once, checkOnly, tune } = context.settings;
    if (once || checkOnly || tune) return life.checked();
    life.time(); //          flush, interval(plan), ...
    await life.recheck(); // the last output, and one more call onto poison
    return life.timed(); //  figures with their provenance
  } catch (error) {
    if (error instanceof CaseError) return life.failed(error);
    throw error;
  }
}
