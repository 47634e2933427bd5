/**
 * Formats a comparison for programs: as JSON, and as a JUnit report, which CI servers show as
 * tests.
 *
 * @module
 */

import { shownJson } from "../../bench/files/json_file.ts";
import type { SourcedRow } from "../../bench/row/read_csv.ts";
import { KEY_COLUMNS } from "../../bench/row/row.ts";
import {
  type Diff,
  failsOn,
  listed,
  rowOf,
  type ShowOptions,
  titleOf,
} from "./diff.ts";
import { reasonOf } from "./text.ts";
import { causesOf, type Judged } from "./verdict.ts";

/** Returns `diff` as JSON: the counts, the means, the listed rows with key and figures. */
export function diffJson(diff: Diff, show: ShowOptions): string {
  const content = {
    counts: diff.counts,
    geomeans: diff.means,
    rows: listed(diff, show).map((judged) => rowJson(judged, show)),
  };
  return shownJson(content, 2);
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

function rowJson(judged: Judged, { failOn }: ShowOptions) {
  const { verdict, also, pair, speed, why } = judged;
  const row = rowOf(pair);
  return {
    verdict,
    ...(also === undefined ? {} : { also }),
    fails: failsOn(judged, failOn),
    key: Object.fromEntries(KEY_COLUMNS.map((c) => [c, row[c]])),
    ...(pair.base && { base: sideJson(pair.base) }),
    ...(pair.next && { new: sideJson(pair.next) }),
    ...(speed && { change: speed.change }),
    ...(speed?.interval && { interval_us: speed.interval }),
    why,
    causes: causesOf(pair),
  };
}

function sideJson({ file, line, row }: SourcedRow) {
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
