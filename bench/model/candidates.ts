/**
 * The configs of a kernel at a point: which are legal, which rule speaks against the
 * others, and in what order they are worth a look.
 *
 * @module
 */

import type { DeviceInfo } from "../device/device.ts";
import { reasonOf, UserError } from "./errors.ts";
import type { Values } from "./grid.ts";

/** A config and, where it cannot run, why. */
export interface Candidate<C = Values> {
  readonly config: C;
  /** Why it cannot run at the point. */
  readonly illegal?: string | undefined;
  /** The name of the rule that `illegal` comes from. */
  readonly rule?: string | undefined;
  /** What the kernel's model says it takes, in µs; missing where there is no model. */
  readonly predicted?: number | undefined;
}

/** A rule that a config must obey: the reason it does not, or nothing. */
export type Rule<P, C> = (
  point: P,
  config: C,
  info: DeviceInfo,
) => string | undefined;

/** Rules by name; in a list, a rule has the name of its function or its place. */
export type Rules<P, C> =
  | Readonly<Record<string, Rule<P, C>>>
  | readonly Rule<P, C>[];

/** What {@linkcode candidatesOf} needs of a kernel. */
export interface Configurable<P, C extends Values> {
  configs?(point: P, info: DeviceInfo): Iterable<C>;
  readonly rules?: Rules<P, C>;
  predict?(point: P, config: C, info: DeviceInfo): number;
}

/** More are not listed in any time that a person waits, let alone searched. */
const MOST_CONFIGS = 200_000;

/**
 * Makes sure that `count` configs can be listed, the illegal ones among them.
 *
 * @param who Whose they are, in errors.
 * @throws {UserError} Where they are too many.
 */
export function demandFew(who: string, count: number): void {
  if (count <= MOST_CONFIGS) return;
  throw new UserError(
    `${who} more than ${MOST_CONFIGS} configs, legal and illegal: give its tunables shorter lists`,
  );
}

/**
 * Every config of `spec`; with a model the legal ones first, by its order.
 *
 * @throws {UserError} For more of them than a search can use, and a rule that gives no reason.
 */
export function* candidatesOf<P, C extends Values>(
  spec: Configurable<P, C>,
  { point, info }: { point: P; info: DeviceInfo },
): Generator<Candidate<C>> {
  const rules = rulesOf(spec.rules ?? []);
  const illegal: Candidate<C>[] = [];
  const legal: { config: C; predicted: number }[] = [];
  let count = 0;
  next: for (const config of spec.configs?.(point, info) ?? [{} as C]) {
    demandFew("It has", ++count);
    for (const [rule, test] of rules) {
      const reason = reasonOf(
        `Its rule ${rule.replace(/^rule /, "")}`,
        test(point, config, info),
      );
      if (reason === undefined) continue;
      const candidate = { config, illegal: reason, rule };
      if (spec.predict) illegal.push(candidate);
      else yield candidate;
      continue next;
    }
    if (!spec.predict) {
      yield { config };
      continue;
    }
    const predicted = spec.predict(point, config, info);
    // What the model cannot place comes last.
    legal.push({ config, predicted: predicted >= 0 ? predicted : Infinity });
  }
  // Compared, not subtracted: two infinities are as good as one another.
  legal.sort(({ predicted: a }, { predicted: b }) =>
    a < b ? -1 : a > b ? 1 : 0
  );
  yield* legal;
  yield* illegal;
}

function rulesOf<P, C>(rules: Rules<P, C>): [string, Rule<P, C>][] {
  if (!Array.isArray(rules)) return Object.entries(rules);
  return rules.map((rule, i) => [rule.name || `rule ${i + 1}`, rule]);
}
