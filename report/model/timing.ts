/**
 * Groups rows by timer and cache, of which results may have several for a case, and chooses one.
 *
 * @module
 */

import { EXIT, UserError } from "../../bench/model/errors.ts";
import { DEFAULTS } from "../../bench/model/settings.ts";
import { isPythonLibrary } from "../../bench/model/peer.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { isPublished } from "../../bench/row/row.ts";

/** The columns that a group is made by. */
type TimingRow = Pick<
  CsvRow,
  | "suite"
  | "device"
  | "arch"
  | "timer"
  | "cache"
  | "library"
  | "harness"
>;

/** The timer and the cache to show; undefined for the ones with the most rows. */
export interface TimingChoice {
  readonly timer?: string | undefined;
  readonly cache?: string | undefined;
}

/** Names the timing of a row: `graph`, or `graph, warm`. */
export function timingOf(
  { timer, cache }: Pick<CsvRow, "timer" | "cache">,
): string {
  return cache === "cold" || cache === "" ? timer : `${timer}, ${cache}`;
}

/**
 * Groups rows of one suite, device, timer and cache. Peers have one timer: where no kernel of
 * ours was timed by it, they stand beside those of each other timer with the same cache.
 */
export function byTiming<R extends TimingRow>(rows: readonly R[]): R[][] {
  const groups = [
    ...Map.groupBy(
      rows,
      ({ suite, device, arch, timer, cache }) =>
        JSON.stringify([suite, device, arch, timer, cache]),
    ).values(),
  ];
  const { ours = [], peers = [] } = Object.groupBy(
    groups,
    (group) =>
      group.every(({ library }) => isPythonLibrary(library)) ? "peers" : "ours",
  );
  const beside = (own: readonly R[]) =>
    peers.filter((group) => areBeside(group, own)).flat();
  const alone = peers.filter((group) =>
    !ours.some((own) => areBeside(group, own))
  );
  return [...ours.map((own) => [...own, ...beside(own)]), ...alone];
}

function areBeside(
  [peer]: readonly TimingRow[],
  [own]: readonly TimingRow[],
): boolean {
  return peer!.cache === own!.cache && placeOf(peer!) === placeOf(own!);
}

function placeOf({ suite, device, arch }: TimingRow): string {
  return JSON.stringify([suite, device, arch]);
}

/** Returns the largest of the groups of a suite on a device; of equals that of `do_bench`. */
export function largest<R extends TimingRow>(
  groups: readonly (readonly R[])[],
): readonly R[] {
  const rank = ([row]: readonly R[]) => row!.timer === DEFAULTS.timer ? 0.5 : 0;
  return groups.toSorted((a, b) => b.length + rank(b) - a.length - rank(a))[0]!;
}

/**
 * Returns those of `all` whose rows are of one timer and cache for each suite and device. Published
 * rows stay.
 *
 * @param note Takes a line on how many rows are of others, where none is chosen.
 * @throws {UserError} Where no row has what is chosen.
 */
export function ofOneTiming<T>(
  all: readonly T[],
  rowIn: (one: T) => TimingRow,
  { timer, cache, note }: TimingChoice & { note?(line: string): void },
): readonly T[] {
  const rows = all.map(rowIn);
  const groups = byTiming(rows.filter((row) => !isPublished(row)));
  const fitting = groups.filter(([row]) =>
    (timer === undefined || row!.timer === timer) &&
    (cache === undefined || row!.cache === cache)
  );
  if (groups.length > 0 && fitting.length === 0) {
    const known = new Set(groups.map(([row]) => timingOf(row!)));
    throw new UserError(
      `No row is timed by ${
        timingOf({ timer: timer ?? "any timer", cache: cache ?? "" })
      }: there are rows by ${[...known].join("; ")}`,
      EXIT.nothing,
    );
  }
  const places = Map.groupBy(fitting, ([row]) => placeOf(row!));
  const chosen = new Set([...places.values()].flatMap(largest));
  const isChosen = timer !== undefined || cache !== undefined;
  const left = isChosen ? [] : groups.filter(([row]) => !chosen.has(row!));
  const counts = Map.groupBy(left, ([row]) => timingOf(row!));
  const others = [...counts].map(([name, own]) =>
    `${own.reduce((sum, { length }) => sum + length, 0)} by ${name}`
  );
  if (others.length > 0) {
    note?.(
      `Not shown: rows of other timers or caches, ${
        others.join(", ")
      }; choose with --timer and --cache`,
    );
  }
  return all.filter((_, i) => isPublished(rows[i]!) || chosen.has(rows[i]!));
}
