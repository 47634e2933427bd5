/**
 * Describes the provenance of rows: device, time, software and method.
 *
 * @module
 */

import type { Book, Run } from "./book.ts";
import { mebibytes } from "./text.ts";

/** Different values that are named before the rest is only counted. */
const MOST = 4;

/** Returns names and texts of a list, for the run and, where they differ, the other one. */
export function provenance({ now, base }: Book): [string, string][] {
  const ours = aboutRun(now);
  const theirs = base && new Map(aboutRun(base));
  return ours.map(([name, text]) => {
    const other = theirs?.get(name);
    return other === undefined || other === text
      ? [name, text]
      : [name, `${text} (${base!.label}: ${other})`];
  });
}

function aboutRun(run: Run): [string, string][] {
  const list = (column: string) => listed(run.valuesOf(column));
  const all: [string, string][] = [
    ["Device", [list("device"), list("arch")].filter(isText).join(", ")],
    ["Measured", period(run.valuesOf("time"))],
    [
      "Software",
      [
        named("driver", list("driver")),
        list("compiler"),
        list("library"),
        named("mnkbench", list("harness")),
      ].filter(isText).join(" · "),
    ],
    ["Method", method(run)],
  ];
  return all.filter(([, text]) => text !== "");
}

function method(run: Run): string {
  const list = (column: string) => listed(run.valuesOf(column));
  const flush = run.valuesOf("flush_bytes").filter(isText)
    .map((bytes) => mebibytes(Number(bytes)));
  const runs = list("runs");
  return [
    list("timer"),
    named("cache", list("cache")),
    [named("flush", list("flush")), listed(flush)].filter(isText).join(" "),
    named("warm-up", list("warmup_ms"), " ms"),
    named("sampling", list("rep_ms"), " ms"),
    named("fill", list("fill")),
    named("seed", list("seed")),
    runs === "" || runs === "1" ? "" : named("runs", runs),
  ].filter(isText).join(" · ");
}

function isText(text: string): boolean {
  return text !== "";
}

function named(name: string, text: string, unit = ""): string {
  return text === "" ? "" : `${name} ${text}${unit}`;
}

function listed(values: readonly string[]): string {
  const known = values.filter(isText);
  return known.length > MOST
    ? `${known.slice(0, MOST).join(", ")} and ${known.length - MOST} more`
    : known.join(", ");
}

/** Returns `2026-11-20 15:49 to 15:50 UTC`. */
export function period(times: readonly string[]): string {
  const sorted = times.filter(isText).toSorted();
  const short = (time: string) => time.slice(0, 16).replace("T", " ");
  const [from, to] = [short(sorted[0] ?? ""), short(sorted.at(-1) ?? "")];
  if (from === "") return "";
  if (from === to) return `${from} UTC`;
  const sameDay = from.slice(0, 10) === to.slice(0, 10);
  return `${from} to ${sameDay ? to.slice(11) : to} UTC`;
}
