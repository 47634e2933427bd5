/**
 * Formats a comparison for programs: as JSON, and as a JUnit report, which CI servers show as
 * tests.
 *
 * @module
 */

import {
  array,
  boolean,
  exactOptional,
  type GenericSchema,
  literal,
  number,
  object,
  picklist,
  string,
} from "valibot";
import { shownJson } from "../../bench/files/json_file.ts";
import type { SourcedRow } from "../../bench/row/read_csv.ts";
import { KEY_COLUMNS } from "../../bench/row/row.ts";
import { each, keySchema } from "../../bench/row/row_schema.ts";
import {
  type Diff,
  failsOn,
  listed,
  rowOf,
  type ShowOptions,
  titleOf,
} from "./diff.ts";
import type { Interval } from "./interval.ts";
import { reasonOf } from "./text.ts";
import { causesOf, type Judged, type Verdict, VERDICTS } from "./verdict.ts";

const sideSchema = object({
  file: string(),
  line: number(),
  device: string(),
  config: string(),
  status: string(),
  median_us: exactOptional(number()),
});

/** The schema of a comparison as data. */
export const diffSchema = object({
  counts: object(each(VERDICTS, number())),
  geomeans: array(object({
    suite: string(),
    n: number(),
    suspect: number(),
    of: number(),
    change: exactOptional(number()),
  })),
  rows: array(object({
    verdict: picklist(VERDICTS),
    also: exactOptional(picklist(VERDICTS)),
    fails: boolean(),
    key: keySchema,
    base: exactOptional(sideSchema),
    new: exactOptional(sideSchema),
    change: exactOptional(number()),
    interval_us: exactOptional(object({
      low: number(),
      high: number(),
      apart: exactOptional(literal(true)),
    })),
    why: string(),
    causes: array(string()),
  })),
}) satisfies GenericSchema<unknown, DiffData>;

/** The geometric mean of a suite, or of all (an empty name) where there are several. */
export interface DiffMean {
  readonly suite: string;
  /** Pairs in the mean. */
  readonly n: number;
  /** Pairs left out because a row is above the speed of light. */
  readonly suspect: number;
  /** Pairs, those of one row too. */
  readonly of: number;
  /** Relative: 0.05 is 5 % slower; missing without a pair. */
  readonly change?: number;
}

/** One of the two rows of a case. */
export interface DiffSide {
  /** The CSV that it is in. */
  readonly file: string;
  readonly line: number;
  readonly device: string;
  readonly config: string;
  readonly status: string;
  readonly median_us?: number;
}

/** A case, and the verdict on it. */
export interface DiffRow {
  readonly verdict: Verdict;
  /** The verdict without what is worse. */
  readonly also?: Verdict;
  readonly fails: boolean;
  /** Columns of the key, as text. */
  readonly key: Readonly<Record<string, string>>;
  readonly base?: DiffSide;
  readonly new?: DiffSide;
  /** Relative: 0.05 is 5 % slower. */
  readonly change?: number;
  /** The interval of the difference, where it decides the verdict. */
  readonly interval_us?: {
    readonly low: number;
    readonly high: number;
    readonly apart?: true;
  };
  readonly why: string;
  /** What else differs. */
  readonly causes: readonly string[];
}

/** A comparison as data. */
export interface DiffData {
  /** Cases by verdict. */
  readonly counts: Readonly<Record<Verdict, number>>;
  readonly geomeans: readonly DiffMean[];
  /** Those that are listed, the worst first. */
  readonly rows: readonly DiffRow[];
}

/** Returns `diff` as data. */
export function diffData(diff: Diff, show: ShowOptions): DiffData {
  return {
    counts: diff.counts,
    geomeans: diff.means.map(({ change, ...mean }) => ({
      ...mean,
      ...(change === undefined ? {} : { change }),
    })),
    rows: listed(diff, show).map((judged) => rowData(judged, show)),
  };
}

/** Returns `diff` as JSON. */
export function diffJson(diff: Diff, show: ShowOptions): string {
  return shownJson(diffData(diff, show), 2);
}

/** Returns the lines of a JUnit report: a test suite for each suite, a test for each row. */
export function diffJunit(diff: Diff, show: ShowOptions): readonly string[] {
  const rows = listed(diff, show);
  const seconds = (own: readonly Judged[]) =>
    shownSeconds(own.reduce((sum, one) => sum + secondsOf(one), 0));
  const failures = rows.filter((one) => failsOn(one, show.failOn)).length;
  const suites = Map.groupBy(rows, ({ pair }) => rowOf(pair).suite);
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites tests="${rows.length}" failures="${failures}" time="${
      seconds(rows)
    }">`,
    ...[...suites].flatMap(([suite, own]) => [
      `  <testsuite name=${quoted(suite)} tests="${own.length}" failures="${
        own.filter((one) => failsOn(one, show.failOn)).length
      }" skipped="${own.filter((one) => isSkipped(one, show)).length}" time="${
        seconds(own)
      }">`,
      ...own.flatMap((one) => testCase(one, show)),
      "  </testsuite>",
    ]),
    "</testsuites>",
  ];
}

function rowData(
  judged: Judged,
  { failOn }: ShowOptions,
): DiffRow {
  const { verdict, also, pair, speed, why } = judged;
  const row = rowOf(pair);
  return {
    verdict,
    ...(also === undefined ? {} : { also }),
    fails: failsOn(judged, failOn),
    key: Object.fromEntries(KEY_COLUMNS.map((c) => [c, row[c]])),
    ...(pair.base && { base: sideData(pair.base) }),
    ...(pair.next && { new: sideData(pair.next) }),
    ...(speed && { change: speed.change }),
    ...(speed?.interval && { interval_us: bounds(speed.interval) }),
    why,
    causes: causesOf(pair),
  };
}

function bounds({ low, high, apart }: Interval) {
  return { low, high, ...(apart && { apart }) };
}

function sideData({ file, line, row }: SourcedRow): DiffSide {
  return {
    file,
    line,
    device: row.device,
    config: row.config,
    status: row.status,
    ...(row.median_us === "" ? {} : { median_us: Number(row.median_us) }),
  };
}

/** Returns the median time of the new row in seconds, the unit of JUnit; 0 where it has none. */
function secondsOf({ pair: { next } }: Judged): number {
  return Number(next?.row.median_us ?? 0) / 1e6;
}

/** Formats seconds without an exponent, which not every reader takes, down to 0.1 ns. */
function shownSeconds(seconds: number): string {
  return seconds.toFixed(10);
}

/** Returns whether nothing can be said of a pair: it neither passes nor fails. */
function isSkipped(judged: Judged, { failOn }: ShowOptions): boolean {
  return judged.verdict === "incomparable" && !failsOn(judged, failOn);
}

function testCase(judged: Judged, show: ShowOptions): readonly string[] {
  const { verdict, also, pair } = judged;
  const row = rowOf(pair);
  const test = `    <testcase classname=${
    quoted(`${row.suite}.${row.kernel}`)
  } name=${quoted(titleOf(row))} time="${shownSeconds(secondsOf(judged))}"`;
  const kind = also === undefined ? verdict : `${verdict}, ${also}`;
  const message = quoted(
    `${kind}: ${reasonOf(judged) || "no reason is known"}`,
  );
  const outcome = failsOn(judged, show.failOn)
    ? `<failure type=${quoted(verdict)} message=${message}/>`
    : isSkipped(judged, show)
    ? `<skipped message=${message}/>`
    : undefined;
  return outcome === undefined
    ? [`${test}/>`]
    : [`${test}>`, `      ${outcome}`, "    </testcase>"];
}

/** Quotes the value of an XML attribute; characters that XML cannot hold are left out. */
function quoted(text: string): string {
  const safe = text
    .replaceAll(/[\t\n\r]/g, " ")
    .replaceAll(/[\p{Control}\p{Surrogate}\ufffe\uffff]/gu, "")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  return `"${safe}"`;
}
