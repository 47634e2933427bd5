/**
 * Speed-ups against a baseline, and what they come to.
 *
 * @module
 */

import { geomean, median } from "../../../bench/measure/stats.ts";
import type { Entry } from "./entry.ts";

/** Whether an entry has a time that may be compared. */
export function isTimed(
  entry: Entry,
): entry is Entry & { readonly median: number } {
  return entry.median !== undefined && !entry.suspect;
}

/** Whether an entry is a failure, and not only a kernel that does not take the case. */
export function isFailed({ status }: Entry): boolean {
  return !["ok", "unsupported", "missing"].includes(status);
}

/** Entries with what each is compared with. */
export class Comparison {
  /** The kernel that speed-ups are relative to, by suite and device. */
  readonly baselines: ReadonlyMap<string, string>;
  readonly #against = new Map<string, number>();

  /**
   * @param entries All there are, also those that a filter hides.
   * @param prefer Kernels by suite, the preferred first; the first that has a time on the
   * device is taken.
   */
  constructor(
    entries: readonly Entry[],
    prefer: (suite: string) => readonly string[],
  ) {
    const timed = new Map<string, Set<string>>();
    for (const entry of entries) {
      if (!isTimed(entry)) continue;
      const kernels = timed.get(placeOf(entry)) ?? new Set();
      timed.set(placeOf(entry), kernels.add(entry.kernel));
    }
    const baselines = new Map<string, string>();
    for (const [place, kernels] of timed) {
      const suite = place.slice(0, place.indexOf("|"));
      const chosen = prefer(suite).find((name) => kernels.has(name));
      if (chosen !== undefined) baselines.set(place, chosen);
    }
    this.baselines = baselines;
    for (const entry of entries) {
      if (!isTimed(entry) || baselines.get(placeOf(entry)) !== entry.kernel) {
        continue;
      }
      this.#against.set(entry.problem, entry.median);
    }
  }

  /** The baseline of an entry's suite and device. */
  baseline(entry: Entry): string | undefined {
    return this.baselines.get(placeOf(entry));
  }

  /** How many times faster than the baseline; nothing where either has no time. */
  speedup(entry: Entry): number | undefined {
    const against = this.#against.get(entry.problem);
    return against === undefined || !isTimed(entry)
      ? undefined
      : against / entry.median;
  }
}

/** A suite on a device, as one text. */
export function placeOf({ suite, device }: Entry): string {
  return `${suite}|${device}`;
}

/** The least median of each problem. */
export function fastest(entries: readonly Entry[]): Map<string, number> {
  const least = new Map<string, number>();
  for (const entry of entries) {
    if (!isTimed(entry)) continue;
    const known = least.get(entry.problem) ?? Infinity;
    least.set(entry.problem, Math.min(known, entry.median));
  }
  return least;
}

/** What a kernel's rows come to. */
export interface Standing {
  readonly kernel: string;
  readonly rows: number;
  readonly failed: number;
  readonly unsupported: number;
  readonly suspect: number;
  /** Problems at which no shown kernel is faster. */
  readonly fastest: number;
  /** Against the baseline, over the problems at which both have a time. */
  readonly compared: number;
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  readonly geomean: number | undefined;
  readonly least: number | undefined;
  readonly median: number | undefined;
  readonly greatest: number | undefined;
}

/** The standing of each kernel in `entries`, in the order in which they come. */
export function standings(
  entries: readonly Entry[],
  comparison: Comparison,
): Standing[] {
  const best = fastest(entries);
  return [...Map.groupBy(entries, ({ kernel }) => kernel)].map(
    ([kernel, own]): Standing => {
      const ratios = own.map((entry) => comparison.speedup(entry))
        .filter((ratio) => ratio !== undefined);
      const many = (test: (entry: Entry) => boolean) => own.filter(test).length;
      return {
        kernel,
        rows: own.length,
        failed: many(isFailed),
        unsupported: many(({ status }) => status === "unsupported"),
        suspect: many(({ suspect }) => suspect),
        fastest: many((e) => isTimed(e) && best.get(e.problem) === e.median),
        compared: ratios.length,
        wins: ratios.filter((ratio) => ratio > 1).length,
        ties: ratios.filter((ratio) => ratio === 1).length,
        losses: ratios.filter((ratio) => ratio < 1).length,
        geomean: geomean(ratios),
        least: ratios.length > 0 ? Math.min(...ratios) : undefined,
        median: ratios.length > 0 ? median(ratios) : undefined,
        greatest: ratios.length > 0 ? Math.max(...ratios) : undefined,
      };
    },
  );
}
