/**
 * Runs the cases of a worker. On a device of its own the next kernels are compiled while configs
 * are searched; while rows are timed nothing is compiled.
 *
 * @module
 */

import { type Outcome, run } from "../bench/measure/case_run.ts";
import type { BenchContext } from "../bench/measure/context.ts";
import { EXIT, type ExitCode } from "../bench/model/errors.ts";
import { recordsTimes } from "../bench/model/settings.ts";
import type { Case } from "../bench/model/suite.ts";
import { kernelText, keyOf } from "../bench/row/row.ts";
import { ConfigLostError } from "../bench/tune/config_book.ts";
import { searchAhead } from "../bench/tune/search.ts";
import type { Emit } from "../bench/worker/protocol.ts";
import type { BuildAhead } from "./build_ahead.ts";

/**
 * Runs all of `cases`, or until the device is no longer to be trusted. In a check, a wrong case is
 * followed by the other cases of its kernel, which can run in the same process.
 */
export async function runCases(
  cases: readonly Case[],
  context: BenchContext,
  { emit, ahead }: { readonly emit: Emit; readonly ahead: BuildAhead },
): Promise<ExitCode> {
  const isTimed = recordsTimes(context.settings);
  const left = new Set(cases);
  let memoryBytes = 0;
  const costs = () => {
    const { heapUsed, external } = Deno.memoryUsage();
    memoryBytes = Math.max(memoryBytes, heapUsed + external);
    return { spent: context.ledger.spent, memoryBytes };
  };
  const restart = (): ExitCode => {
    emit({ event: "costs", ...costs() });
    emit({ event: "restart" });
    return EXIT.ok;
  };
  /** The only kernel for which the process is still fit, if it is not for all. */
  let fitFor: string | undefined;
  const isFit = (c: Case) =>
    fitFor === undefined || fitFor === kernelText(keyOf(c));
  for (const batch of batchesOf(cases)) {
    // The first case of a worker is run at once: its failure is nobody else's doing.
    const isFirst = left.size === cases.length;
    const isSearched = isTimed && ahead.isBusy;
    if (isSearched && !batch.every(isFit)) return restart();
    for (const c of isSearched ? batch : []) {
      emit({ event: "case", key: keyOf(c) });
      if (await isLost(() => searchAhead(c, context))) return restart();
      if (!isFirst) emit({ event: "waits", key: keyOf(c) });
    }
    using _quiet = isTimed ? await ahead.pause() : undefined;
    // Cases that come earlier than in their batch are left out there.
    let queue = batch.filter((c) => left.has(c));
    for (let c = queue.shift(); c !== undefined; c = queue.shift()) {
      if (!isFit(c)) return restart();
      if (!isFirst || !isSearched) emit({ event: "case", key: keyOf(c) });
      let outcome: Outcome | undefined;
      const lost = await isLost(async () => {
        outcome = await run(c!, context);
      });
      left.delete(c);
      if (outcome === undefined || lost) return restart();
      const { row, samples, spoilt } = outcome;
      emit({ event: "costs", ...costs() });
      emit({ event: "row", row, ...(samples ? { samples } : {}) });
      if (left.size === 0) break;
      if (spoilt === "for all") return restart();
      if (spoilt === "for others") fitFor = kernelText(row.key);
      if (row.status === "wrong" && !isTimed) {
        const kernel = kernelText(row.key);
        const own = [...left].filter((other) =>
          kernelText(keyOf(other)) === kernel
        );
        queue = [...own, ...queue.filter((other) => !own.includes(other))];
      }
    }
  }
  emit({ event: "done", ...costs() });
  return EXIT.ok;
}

/** The first case, then the others by their problem, whose operands and reference they share. */
function batchesOf(cases: readonly Case[]): readonly (readonly Case[])[] {
  const [first, ...others] = cases;
  if (first === undefined) return [];
  return [[first], ...Map.groupBy(others, ({ problem }) => problem).values()];
}

/** Returns whether a config of a search made the device unusable during `work`. */
async function isLost(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    if (!(error instanceof ConfigLostError)) throw error;
    return true;
  }
}
