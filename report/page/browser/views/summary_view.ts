/// <reference lib="dom" />
/**
 * Draws what the reader should know first: where, when and how it was measured, who is faster
 * than the baseline by how much, and what failed.
 *
 * @module
 */

import { html } from "lit-html";
import type { Column } from "../../../../bench/row/csv_row.ts";
import { geomean } from "../../../../bench/measure/stats.ts";
import {
  type Book,
  changeOf,
  type Entry,
  isFailed,
  type Run,
} from "../book.ts";
import { type Child, fill } from "../dom.ts";
import { change, count, mebibytes, moodOf, rankOf } from "../text.ts";
import { drawStandings, drawTiles } from "./standings_view.ts";
import { distinct, type View } from "./view.ts";

/** Draws the head line, the tiles, the standings and the failures. */
export function drawSummary(view: View): void {
  const facts = provenance(view.book)
    .map(([name, text]) =>
      html`
        <dt>${name}</dt>
        <dd>${text}</dd>
      `
    );
  fill(
    "summary",
    html`
      <p class="lead">${lead(view)}</p>
      <dl class="provenance">${facts}</dl>
      <ul class="tiles">${drawTiles(view)}</ul>
      ${drawVerdicts(view)} ${drawStandings(view)} ${drawNotes(view)}
    `,
  );
}

function lead(view: View): string {
  const { shown } = view;
  const names = distinct(shown, ({ kernel }) => kernel);
  const against = baselineName(view);
  const shapes = distinct(shown, ({ shape }) => shape).length;
  const suites = distinct(shown, ({ suite }) => suite);
  return [
    count(shown.length, "row"),
    `: ${names.length === 1 ? names[0] : count(names.length, "kernel")} at ${
      count(shapes, "shape")
    }`,
    suites.length > 1 ? ` in ${count(suites.length, "suite")}` : "",
    against === undefined ? "." : `, against ${against}.`,
  ].join("");
}

/** Returns what speed-ups are relative to: one kernel, each suite's own, or none. */
function baselineName({ baseline, shown }: View): string | undefined {
  const pivots = distinct(shown, ({ pivot }) => pivot);
  const names = new Set(
    pivots.map(baseline).filter((name) => name !== undefined),
  );
  return names.size === 0
    ? undefined
    : names.size === 1
    ? [...names][0]!
    : "the suite’s baseline";
}

/** Draws how many cases have which verdict: each is a way to them. */
function drawVerdicts(view: View): Child {
  const { book: { now, base }, shown, state } = view;
  if (base === undefined) return undefined;
  const groups = [...Map.groupBy(shown, ({ verdict }) => verdict)]
    .toSorted(([a], [b]) => rankOf(a) - rankOf(b));
  const comparable = shown.filter((e) =>
    e.verdict !== "incomparable" && changeOf(e) !== undefined
  );
  const sound = comparable.filter((e) => !e.suspect && !e.suspectBefore);
  const suspect = comparable.length - sound.length;
  const mean = geomean(
    sound.map(changeOf).filter((ratio) => ratio !== undefined),
  );
  const without = suspect === 0
    ? ""
    : ` ${count(suspect, "suspect case")} left out.`;
  const words = mean === undefined
    ? "No case has a time to compare in both runs."
    : `Geomean ${change(mean)} in time, over the ${
      count(sound.length, "case")
    } of ${shown.length} timed and comparable in both.`;
  const way = ([verdict, own]: (typeof groups)[number]) => {
    const isChosen = state.verdict === verdict;
    const choose = () =>
      view.update(
        isChosen
          ? { verdict: "", page: 0 }
          : { verdict, view: "rows", sort: "", page: 0 },
      );
    return html`
      <li><button type="button" id="verdict-${verdict}"
        class="verdict ${moodOf(verdict)}" aria-pressed=${isChosen}
        @click=${choose}>${own.length} ${verdict}</button></li>
    `;
  };
  return html`
    <section class="verdicts" aria-label="Against the other run">
      <h3>${now.label} against ${base.label}</h3>
      <p>${words}${without}</p>
      <ul class="chips">${groups.map(way)}</ul>
    </section>
  `;
}

/** Different failures that are listed before the rest is folded away. */
const MOST_FAILURES = 8;

/** Draws failures, each different one once; other notes are folded away. */
function drawNotes(view: View): Child {
  const failures = different(view.shown.filter(isFailed));
  const notes = different(
    view.shown.filter((e) => !isFailed(e) && e.note !== ""),
  );
  if (failures.length + notes.length === 0) return undefined;
  const list = (groups: readonly (readonly Entry[])[]) =>
    html`<ul>${groups.map((own) => item(view, own))}</ul>`;
  const folded = (groups: readonly (readonly Entry[])[], noun: string) =>
    groups.length === 0 ? undefined : html`
      <details>
        <summary>${count(groups.length, noun)}</summary>
        ${list(groups)}
      </details>
    `;
  const first = failures.slice(0, MOST_FAILURES);
  return html`
    <section class="notes" aria-label="Failures and notes">
      ${first.length > 0 ? html`<h3>Failures</h3>${list(first)}` : undefined}
      ${folded(failures.slice(MOST_FAILURES), "more failure")}
      ${folded(notes, "note")}
    </section>
  `;
}

/** Returns entries that say the same of the same kernel. */
function different(entries: readonly Entry[]): Entry[][] {
  const groups = Map.groupBy(
    entries,
    (e) => JSON.stringify([e.suite, e.device, e.kernel, e.status, e.note]),
  );
  return [...groups.values()];
}

function item(view: View, own: readonly Entry[]): Child {
  const { status, kernel, shape, note } = own[0]!;
  const open = () => view.open(own[0]!);
  const more = own.length > 1
    ? ` and ${count(own.length - 1, "more shape")}`
    : "";
  return html`
    <li><span class="status ${status}">${status}</span> ${kernel},
      <button type="button" class="link" @click=${open}>${shape.label}</button
      >${more}${note && `: ${note}`}</li>
  `;
}

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
  const list = (column: Column) => listed(valuesOf(run, column));
  const all: [string, string][] = [
    ["Device", [list("device"), list("arch")].filter(isText).join(", ")],
    ["Measured", period(valuesOf(run, "time"))],
    [
      "Software",
      [
        named("driver", list("driver")),
        list("compiler"),
        list("library"),
        named("mnkbench", list("harness")),
        named("commit", list("commit")),
      ].filter(isText).join(" · "),
    ],
    ["Method", method(run)],
  ];
  return all.filter(([, text]) => text !== "");
}

function method(run: Run): string {
  const list = (column: Column) => listed(valuesOf(run, column));
  const flush = valuesOf(run, "flush_bytes").filter(isText)
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

/** Returns the different values of a column, in the order in which they come. */
function valuesOf({ rows }: Run, column: Column): string[] {
  return [...new Set(rows.map((row) => row[column]))];
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
