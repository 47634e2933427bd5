/**
 * Chooses a kernel's config: a known one, or the winner of a search.
 *
 * @module
 */

import { decide, type Known } from "./decide.ts";
import { formatValues } from "../model/grid.ts";
import type { BenchContext } from "../measure/context.ts";
import { keyOf } from "../row/row.ts";
import { Search } from "./search.ts";
import type { Case } from "../model/suite.ts";
import type { Choice } from "./chosen.ts";

/**
 * The config that `c` runs at: its only legal one, one that is known from before, or the
 * fastest of a search of some {@linkcode Settings.search} milliseconds a config.
 *
 * @throws {CaseError} `unsupported`, where no config is legal; `untuned`, where the timing
 * cache was to have one; or the first failure, where none runs or none is right.
 * @throws {ConfigLostError} Where one that is tried makes the device unusable.
 */
export async function choose(c: Case, context: BenchContext): Promise<Choice> {
  if (c.follows) return await choose(c.follows, context);
  const decision = decide(c, context);
  if ("among" in decision) {
    return await context.ledger.count(
      "search",
      () => new Search(c, context, decision).run(),
    );
  }
  report(c, context, decision);
  const { config, by } = decision;
  return { config, by, tried: 0, ms: 0, note: "" };
}

/** Says what is known of `c` already. */
function report(
  c: Case,
  context: BenchContext,
  { config, by, entry }: Known,
): void {
  if (!context.settings.tune && !entry) return;
  context.options.emit({
    event: "tuned",
    key: keyOf(c),
    config: formatValues(config),
    by,
    ...(entry ? { us: entry.us } : {}),
    timed: 0,
    failed: 0,
    ms: 0,
    finalists: [],
  });
}
