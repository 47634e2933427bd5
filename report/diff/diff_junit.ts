/**
 * A comparison as a JUnit report, which CI servers show as tests.
 *
 * @module
 */

import {
  type Diff,
  failsOn,
  listed,
  rowOf,
  type ShowOptions,
  titleOf,
} from "./diff.ts";
import { reasonOf } from "./diff_text.ts";
import type { Judged } from "./verdict.ts";

/** `diff` in lines of XML: a suite of tests for each suite, a test for each listed row. */
export function diffJunit(diff: Diff, show: ShowOptions): readonly string[] {
  const rows = listed(diff, show);
  const failures = rows.filter((one) => failsOn(one, show.failOn)).length;
  const suites = Map.groupBy(rows, ({ pair }) => rowOf(pair).suite);
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites tests="${rows.length}" failures="${failures}">`,
    ...[...suites].flatMap(([suite, own]) => [
      `  <testsuite name=${quoted(suite)} tests="${own.length}" failures="${
        own.filter((one) => failsOn(one, show.failOn)).length
      }" skipped="${own.filter((one) => isSkipped(one, show)).length}">`,
      ...own.flatMap((one) => testCase(one, show)),
      "  </testsuite>",
    ]),
    "</testsuites>",
  ];
}

/** Neither well nor a failure: nothing can be said. */
function isSkipped(judged: Judged, { failOn }: ShowOptions): boolean {
  return judged.verdict === "incomparable" && !failsOn(judged, failOn);
}

function testCase(judged: Judged, show: ShowOptions): readonly string[] {
  const { verdict, also, pair } = judged;
  const row = rowOf(pair);
  const test = `    <testcase classname=${
    quoted(`${row.suite}.${row.kernel}`)
  } name=${quoted(titleOf(row))}`;
  const kind = also === undefined ? verdict : `${verdict}, ${also}`;
  const message = quoted(
    `${kind}: ${reasonOf(judged) || "no reason is known"}`,
  );
  if (failsOn(judged, show.failOn)) {
    return [
      `${test}>`,
      `      <failure type=${quoted(verdict)} message=${message}/>`,
      "    </testcase>",
    ];
  }
  if (isSkipped(judged, show)) {
    return [
      `${test}>`,
      `      <skipped message=${message}/>`,
      "    </testcase>",
    ];
  }
  return [`${test}/>`];
}

/** An XML attribute's value with its quotes; what XML cannot hold is left out. */
function quoted(text: string): string {
  const safe = text
    .replaceAll(/[\t\n\r]/g, " ")
    .replaceAll(/[\p{Control}\p{Surrogate}\ufffe\uffff]/gu, "")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  return `"${safe}"`;
}
