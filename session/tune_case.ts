/**
 * The result of tuning a case, with the configs that were left out.
 *
 * @module
 */

import type { Candidate } from "../bench/model/candidates.ts";
import type { DeviceInfo } from "../bench/device/device.ts";
import { contenders } from "../bench/tune/levels.ts";
import type { Tuned } from "../bench/worker/protocol.ts";
import type { Row } from "../bench/row/row.ts";
import type { Case } from "../bench/model/suite.ts";

/** What there is to choose from. */
export interface Space {
  readonly legal: readonly Candidate[];
  readonly illegal: readonly Candidate[];
  /** Legal, but not worth a look at this level. */
  readonly pruned: readonly Candidate[];
}

/** A case and what came of it. */
export interface TunedCase {
  readonly one: Case;
  readonly space: Space;
  readonly row: Row;
  /** Missing where no config was chosen. */
  readonly tuned?: Tuned;
}

/**
 * The configs of `one`; none where its kernel cannot run here or cannot say, which its row
 * then tells.
 */
export function spaceOf(one: Case, info: DeviceInfo, level: number): Space {
  const all = candidatesOf(one, info) ?? [];
  const legal = all.filter(({ illegal }) => illegal === undefined);
  const kept = new Set(contenders(legal, level));
  return {
    legal,
    illegal: all.filter(({ illegal }) => illegal !== undefined),
    pruned: legal.filter((candidate) => !kept.has(candidate)),
  };
}

/** Nothing where the kernel throws. */
function candidatesOf(
  one: Case,
  info: DeviceInfo,
): readonly Candidate[] | undefined {
  try {
    return one.unsupported(info) === undefined ? [...one.candidates(info)] : [];
  } catch {
    // A user's kernel may throw anything: it does so again in the worker, as a row.
    return undefined;
  }
}

/**
 * Whether there is anything to tune, and no other case to follow: more than one config, or
 * a kernel that fails to list them, which is not to pass for one that has none.
 */
export function isTunable(one: Case, info: DeviceInfo): boolean {
  if (one.follows !== undefined) return false;
  // What a device offers is only known once it is open.
  if (one.offers !== undefined) return true;
  const candidates = candidatesOf(one, info);
  return candidates === undefined || candidates.length > 1;
}

/** How many of `candidates` each rule speaks against, most first. */
export function byRule(
  candidates: readonly Candidate[],
): readonly (readonly [string, number])[] {
  const rules = Map.groupBy(candidates, ({ rule }) => rule ?? "no rule");
  return [...rules].map(([rule, list]) => [rule, list.length] as const)
    .sort(([, a], [, b]) => b - a);
}
