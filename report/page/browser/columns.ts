/**
 * The columns of the list of rows.
 *
 * @module
 */

import type { Comparison } from "./compare.ts";
import type { Book, Entry } from "./entry.ts";
import { change, digits, factor, microseconds, percent } from "./text.ts";
import { rankOf } from "./verdicts.ts";

/** A column: what rows are sorted by, and what is read. */
export interface Column {
  readonly id: string;
  readonly head: string;
  readonly title: string;
  readonly number: boolean;
  /** Whether the greatest is what one looks for first. */
  readonly greatestFirst?: boolean;
  value(entry: Entry): string | number | undefined;
  text(entry: Entry): string;
}

function words(
  id: keyof Entry & ("suite" | "device" | "kernel" | "status" | "note"),
  head: string,
  title: string,
): Column {
  return {
    id,
    head,
    title,
    number: false,
    value: (entry) => entry[id] || undefined,
    text: (entry) => entry[id],
  };
}

function figure(
  column: Pick<Column, "id" | "head" | "title" | "value" | "greatestFirst">,
  text: (value: number | undefined) => string,
): Column {
  return {
    ...column,
    number: true,
    text: (entry) => {
      const value = column.value(entry);
      return text(typeof value === "number" ? value : undefined);
    },
  };
}

/** How the time changed since the other run: 1.05 is 5 % slower. */
export function changeOf({ median, before }: Entry): number | undefined {
  return median === undefined || before === undefined
    ? undefined
    : median / before;
}

/** Half the range between the quartiles, as a share of the median. */
function spreadOf({ median, q1, q3 }: Entry): number | undefined {
  return median === undefined || q1 === undefined || q3 === undefined
    ? undefined
    : (q3 - q1) / 2 / median;
}

/** The columns that `book` has something for. */
export function columnsOf(book: Book, comparison: Comparison): Column[] {
  const { entries, now } = book;
  const several = (of: (entry: Entry) => string) =>
    new Set(entries.map(of)).size > 1;
  const fromRow = (column: string) => (entry: Entry) =>
    entry.now === undefined ? undefined : now.number(column, entry.now);
  const size = (entry: Entry) =>
    (entry.m * 2 ** 20 + entry.n) * 2 ** 20 + entry.k;
  const pair: Column[] = book.base === undefined ? [] : [
    {
      id: "verdict",
      head: "Verdict",
      title: "What became of the case since the other run",
      number: false,
      value: (entry) => rankOf(entry.verdict),
      text: ({ verdict }) => verdict,
    },
    figure({
      id: "change",
      head: "Change",
      title: "Of the median since the other run: more is slower",
      greatestFirst: true,
      value: changeOf,
    }, change),
    figure({
      id: "before",
      head: `${book.base.label} µs`,
      title: "Median in the other run",
      value: ({ before }) => before,
    }, microseconds),
  ];
  return [
    ...pair.slice(0, 2),
    ...(several((e) => e.suite) ? [words("suite", "Suite", "The suite")] : []),
    ...(several((e) => e.device)
      ? [words("device", "Device", "Where it ran")]
      : []),
    words("kernel", "Kernel", "The kernel"),
    {
      id: "shape",
      head: "Shape",
      title: "M×N×K, and what else differs",
      number: false,
      value: size,
      text: ({ shape }) => shape,
    },
    words("status", "Outcome", "ok, or why there is no timing"),
    figure({
      id: "median",
      head: "Median µs",
      title: "Of the timed samples",
      value: ({ median }) => median,
    }, microseconds),
    ...pair.slice(2),
    figure({
      id: "spread",
      head: "± quartiles",
      title: "Half the range between the quartiles, as a share of the median",
      greatestFirst: true,
      value: spreadOf,
    }, percent),
    figure({
      id: "speedup",
      head: "Speed-up",
      title: "How many times faster than the baseline",
      greatestFirst: true,
      value: (entry) => comparison.speedup(entry),
    }, factor),
    figure({
      id: "light",
      head: "Of SOL",
      title: "The share of the speed of light that is reached",
      greatestFirst: true,
      value: ({ median, sol }) =>
        median === undefined || sol === undefined ? undefined : sol / median,
    }, percent),
    figure({
      id: "tflops",
      head: "TFLOP/s",
      title: "10¹² operations a second, of the least work that there is",
      greatestFirst: true,
      value: fromRow("tflops"),
    }, digits),
    figure({
      id: "gbps",
      head: "GB/s",
      title: "10⁹ bytes a second, of the least that must be moved",
      greatestFirst: true,
      value: fromRow("gbps"),
    }, digits),
    {
      id: "config",
      head: "Config",
      title: "The values of the tunables",
      number: false,
      value: (e) =>
        (e.now === undefined ? "" : now.text("config", e.now)) || undefined,
      text: (e) => e.now === undefined ? "" : now.text("config", e.now),
    },
    words("note", "Note", "What the row has to say"),
  ];
}
