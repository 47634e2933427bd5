/**
 * Reads two sources of rows, joins them and judges each case.
 *
 * @module
 */

import { readIfThere } from "../../bench/files/disk.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { isPeerLibrary } from "../../bench/model/peer.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { keyText } from "../../bench/row/row.ts";
import { type Diff, rowOf, summarizeDiff } from "../../report/diff/diff.ts";
import { intervalOf } from "../../report/diff/interval.ts";
import { join, type Pair } from "../../report/diff/join.ts";
import {
  parseThresholds,
  type Threshold,
  thresholdsOf,
} from "../../report/diff/thresholds.ts";
import {
  exceedsThresholds,
  judge,
  type Verdict,
} from "../../report/diff/verdict.ts";
import { timingOf } from "../../report/model/timing.ts";
import {
  effectsBeside,
  evidenceOf,
  readRows,
  type SourcedRow,
} from "../read_rows.ts";

/** A file, folder or glob of rows, or several. */
type Source = string | readonly string[];

/** The verdicts that a comparison fails on by default. */
export const FAIL_ON: readonly Verdict[] = [
  "slower",
  "missing",
  "broken",
  "less-accurate",
];

/** What counts as slower or faster. */
export interface Judging {
  /** The least relative difference that counts, in per cent. @default {3} */
  readonly threshold?: number | undefined;
  /** The least absolute difference that counts, in microseconds. @default {0.2} */
  readonly minUs?: number | undefined;
  /** A file of these by suite. */
  readonly config?: string | undefined;
}

/** Returns the thresholds of a suite's rows by `options`. @throws {UserError} */
export function limitsOf(
  { threshold, minUs, config }: Judging,
): (suite: string) => Threshold {
  for (const [name, value] of Object.entries({ threshold, minUs })) {
    if (value === undefined || value >= 0 && value < Infinity) continue;
    throw new UserError(`${name} is ${value}: give a number of at least 0`);
  }
  return thresholdsOf(
    {
      ...(threshold !== undefined && { threshold }),
      ...(minUs !== undefined && { minUs }),
    },
    config === undefined ? {} : readThresholds(config),
  );
}

/** Returns the suites that the file of thresholds at `path` names and none of `rows` is of. */
export function idleSuites(
  path: string,
  rows: readonly CsvRow[],
): readonly string[] {
  const there = new Set(rows.map(({ suite }) => suite));
  return Object.keys(readThresholds(path).suites ?? {})
    .filter((name) => !there.has(name));
}

function readThresholds(path: string) {
  const text = readIfThere(path);
  if (text !== undefined) return parseThresholds(text, path);
  throw new UserError(
    `Cannot read ${path}: there is no such file; leave out --config for 3 % and 0.2 µs`,
  );
}

/**
 * Reads both sides and judges every case of either.
 *
 * @param note Takes a line on rows of `base` that are left out. @default {nobody is told}
 * @param chooser Returns, of the rows of both sides, which are compared. @default {all}
 * @param lean Whether rows may lack the columns that no verdict reads.
 * @param measured Whether rows of `base` that `next` has not are left out instead of missing.
 * @throws {UserError} For what cannot be read, and sides without a row.
 */
export async function compareRows(
  options: Judging & { readonly base: Source; readonly next: Source },
  { chooser, lean = true, measured = false, note }: {
    readonly chooser?: Chooser | undefined;
    readonly lean?: boolean;
    readonly measured?: boolean;
    note?(line: string): void;
  } = {},
): Promise<Diff> {
  const before = await readRows([options.base].flat(), { lean });
  const after = await readRows([options.next].flat(), { lean, like: before });
  const [recorded, next] = chosenRows([before, after], chooser);
  if (measured) {
    return await judgeRows(measuredIn(next, recorded), next, options);
  }
  const own = withoutUnmeasuredTimings(recorded, next);
  const peers = withoutUnmeasuredPeers(own.rows, next);
  for (const line of [own.note, peers.note]) {
    if (line !== undefined) note?.(line);
  }
  const base = peers.rows;
  if (base.length + next.length === 0) {
    throw new UserError(
      `Cannot compare ${options.base} and ${options.next}: neither has a row`,
      EXIT.nothing,
    );
  }
  return await judgeRows(base, next, options);
}

/** Takes all rows and returns which of them are chosen. */
export type Chooser = (all: readonly CsvRow[]) => (row: CsvRow) => boolean;

/** Returns the rows of each of `sides` that `chooser` chooses of all. */
export function chosenRows(
  sides: readonly [readonly SourcedRow[], readonly SourcedRow[]],
  chooser: Chooser | undefined,
): readonly [readonly SourcedRow[], readonly SourcedRow[]] {
  if (chooser === undefined) return sides;
  const isChosen = chooser(sides.flat().map(({ row }) => row));
  const [base, next] = sides;
  const own = ({ row }: SourcedRow) => isChosen(row);
  return [base.filter(own), next.filter(own)];
}

/** Returns those of `base` whose cases `next` has on the same device. */
export function measuredIn(
  next: readonly SourcedRow[],
  base: readonly SourcedRow[],
): readonly SourcedRow[] {
  const cases = new Set(next.map(({ identity }) => identity));
  return base.filter(({ identity }) => cases.has(identity));
}

/** Judges every case of `base` and `next`. @throws {UserError} For thresholds that are none. */
export async function judgeRows(
  base: readonly SourcedRow[],
  next: readonly SourcedRow[],
  options: Judging,
): Promise<Diff> {
  const limits = limitsOf(options);
  const pairs = join(base, next);
  const effects = effectsOf(pairs);
  const past = pairs.filter((pair) =>
    exceedsThresholds(pair, limits(rowOf(pair).suite))
  );
  const evidence = await evidenceOf(
    past.flatMap(({ base, next }) => [base!, next!]),
  );
  return summarizeDiff(pairs.map((pair) =>
    judge(pair, {
      threshold: limits(rowOf(pair).suite),
      effect: effects(pair),
      interval: (a, b) => intervalOf(evidence.get(a)!, evidence.get(b)!),
    })
  ));
}

/**
 * Drops rows of ours from `base` whose timer and cache `next` has not measured for a suite and
 * device, where it has measured others that `base` has: they are not missing.
 *
 * @returns The rows that are left, and a note where rows were dropped.
 */
export function withoutUnmeasuredTimings(
  base: readonly SourcedRow[],
  next: readonly SourcedRow[],
): { readonly rows: readonly SourcedRow[]; readonly note: string | undefined } {
  const none = { rows: base, note: undefined };
  if (new Set(base.map(({ row }) => timingOf(row))).size < 2) return none;
  const timed = ({ row }: SourcedRow) =>
    JSON.stringify([row.suite, row.device, timingOf(row)]);
  const ours = base.filter((one) => !isPeerRow(one));
  const measured = new Set(next.filter((one) => !isPeerRow(one)).map(timed));
  const alike = new Set(
    ours.filter((one) => measured.has(timed(one))).map(placeOf),
  );
  const lost = new Set(
    ours.filter((one) => alike.has(placeOf(one)) && !measured.has(timed(one))),
  );
  if (lost.size === 0) return none;
  const names = new Set([...lost].map(({ row }) => timingOf(row)));
  return {
    rows: base.filter((one) => !lost.has(one)),
    note: `${lost.size} rows timed by ${
      [...names].join("; ")
    } are not compared, as NEW has none of them: measure them with --timer to compare them`,
  };
}

/**
 * Drops the rows of peers from `base` for each suite and device of which `next` has rows, but
 * none of a peer: that run was made without peers, so they are not missing.
 *
 * @returns The rows that are left, and a note where rows were dropped.
 */
export function withoutUnmeasuredPeers(
  base: readonly SourcedRow[],
  next: readonly SourcedRow[],
): { readonly rows: readonly SourcedRow[]; readonly note: string | undefined } {
  const peers = base.filter(isPeerRow);
  const measured = new Set(peers.length > 0 ? next.map(placeOf) : []);
  const beside = new Set(next.filter(isPeerRow).map(placeOf));
  const isDropped = (one: SourcedRow) =>
    measured.has(placeOf(one)) && !beside.has(placeOf(one));
  const lost = new Set(peers.filter(isDropped));
  const rows = lost.size > 0 ? base.filter((one) => !lost.has(one)) : base;
  const dropped = base.length - rows.length;
  return {
    rows,
    note: dropped === 0
      ? undefined
      : `${dropped} rows of peers are not compared, as NEW was measured without peers: add --peers torch to its run to compare them`,
  };
}

/** Returns the detectable effects of rows by a calibration beside their CSV, or that of the other. */
function effectsOf(
  pairs: readonly Pair[],
): (pair: Pair) => number | undefined {
  const files = new Set(
    pairs.flatMap(({ base, next }) =>
      base && next ? [base.file, next.file] : []
    ),
  );
  const known = new Map([...files].map((file) => [
    file,
    new Map(
      effectsBeside(file)?.rows.map((r) => [JSON.stringify(r.key), r.mde]),
    ),
  ]));
  return ({ base, next }) => {
    const of = (one: SourcedRow | undefined) => {
      const own = one && known.get(one.file);
      return own?.size ? own.get(keyText(one!.row)) : undefined;
    };
    return of(base) ?? of(next);
  };
}

function isPeerRow({ row }: SourcedRow): boolean {
  return isPeerLibrary(row.library);
}

function placeOf({ row: { suite, device } }: SourcedRow): string {
  return JSON.stringify([suite, device]);
}
