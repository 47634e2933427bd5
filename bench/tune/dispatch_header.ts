/**
 * A dispatch table as a C header: static data and two functions, for a serving stack.
 *
 * @module
 */

import type { DispatchRange } from "./dispatch.ts";
import { parseValues, type Scalar } from "../model/grid.ts";

/** The ranges of one problem along one of its sizes. */
export interface DispatchTable {
  /** What is computed, as the key of a row has it. */
  readonly problem: Readonly<
    Record<
      | "op"
      | "a_type"
      | "b_type"
      | "c_type"
      | "acc_type"
      | "layout"
      | "params",
      string
    >
  >;
  /** The size that is looked up. */
  readonly axis: string;
  /** The other sizes; one that is missing equals the axis. */
  readonly sizes: Readonly<Record<string, number>>;
  readonly ranges: readonly DispatchRange[];
}

/** Where a header's figures are from, for its first lines. */
export interface HeaderOrigin {
  readonly device: string;
  readonly arch: string;
  readonly driver: string;
  readonly date: string;
  readonly harness: string;
}

const TYPES = `typedef struct {
  const char *name;
  const char *text; /* the value as text */
  long value;       /* the value, 0 where it is not a whole number */
} mnkbench_tunable;

typedef struct {
  long from, to; /* sizes, both included */
  const char *kernel;
  const char *config; /* all tunables as text */
  const mnkbench_tunable *tunables;
  size_t tunable_count;
  double loss; /* geometric mean over the sizes measured, 0.01 is 1 % */
} mnkbench_range;

typedef struct {
  const char *op, *a_type, *b_type, *c_type, *acc_type, *layout, *params;
  char axis;    /* 'm', 'n' or 'k': the size that mnkbench_choose takes */
  long m, n, k; /* 0 where a size is the axis or equals it */
  const mnkbench_range *ranges;
  size_t range_count;
} mnkbench_table;
`;

const FUNCTIONS =
  `/* The table of a problem, or NULL. Look it up once and keep it. */
static inline const mnkbench_table *mnkbench_find(
    const char *op, const char *a_type, const char *layout, const char *params,
    long m, long n, long k) {
  for (size_t i = 0; i < mnkbench_table_count; i++) {
    const mnkbench_table *t = &mnkbench_tables[i];
    const long size = t->axis == 'm' ? m : t->axis == 'n' ? n : k;
    if (strcmp(t->op, op) == 0 && strcmp(t->a_type, a_type) == 0 &&
        strcmp(t->layout, layout) == 0 && strcmp(t->params, params) == 0 &&
        m == (t->m ? t->m : size) && n == (t->n ? t->n : size) &&
        k == (t->k ? t->k : size))
      return t;
  }
  return NULL;
}

/* What to run at a size, or NULL beyond what was measured. */
static inline const mnkbench_range *mnkbench_choose(
    const mnkbench_table *table, long size) {
  size_t low = 0, high = table->range_count;
  while (low < high) {
    const size_t at = low + (high - low) / 2;
    if (table->ranges[at].to < size) low = at + 1;
    else high = at;
  }
  if (low == table->range_count || size < table->ranges[low].from) return NULL;
  return &table->ranges[low];
}
`;

/** The header of `tables`: C99 and C++, without a warning. */
export function dispatchHeader(
  tables: readonly DispatchTable[],
  { device, arch, driver, date, harness }: HeaderOrigin,
): string {
  const about = [
    `Which kernel and config to use, measured by mnkbench ${harness}`,
    `on ${device} (${arch}, driver ${driver}), ${date}.`,
  ].map((line) => `/* ${line.replaceAll("*/", "* /")} */`).join("\n");
  return `${about}
#ifndef MNKBENCH_DISPATCH_H
#define MNKBENCH_DISPATCH_H

#include <stddef.h>
#include <string.h>

${TYPES}
${tables.map(rangesText).join("\n")}
static const mnkbench_table mnkbench_tables[] = {
${tables.map(tableText).join("\n")}
};
static const size_t mnkbench_table_count = ${tables.length};

${FUNCTIONS}
#endif
`;
}

function rangesText({ ranges }: DispatchTable, table: number): string {
  const name = (i: number) => `mnkbench_tunables_${table}_${i}`;
  const values = ranges.map(({ option }) =>
    Object.entries(parseValues(option.config))
  );
  const tunables = values.map((pairs, i) =>
    pairs.length === 0
      ? ""
      : `static const mnkbench_tunable ${name(i)}[] = {${
        pairs.map(tunableText).join(", ")
      }};\n`
  ).join("");
  const lines = ranges.map(({ from, to, option, loss }, i) => {
    const count = values[i]!.length;
    const fields = [
      ...[from, to, quoted(option.kernel), quoted(option.config)],
      ...[count ? name(i) : "NULL", count, loss.toPrecision(6)],
    ];
    return `  {${fields.join(", ")}},`;
  });
  return `${tunables}static const mnkbench_range mnkbench_ranges_${table}[] = {
${lines.join("\n")}
};
`;
}

function tunableText([name, value]: [string, Scalar]): string {
  const whole = Number.isSafeInteger(value) ? value : 0;
  return `{${quoted(name)}, ${quoted(`${value}`)}, ${whole}}`;
}

function tableText(
  { problem, axis, sizes, ranges }: DispatchTable,
  table: number,
): string {
  const { op, a_type, b_type, c_type, acc_type, layout, params } = problem;
  const texts = [op, a_type, b_type, c_type, acc_type, layout, params];
  const fields = [
    ...texts.map(quoted),
    `'${axis}'`,
    ...["m", "n", "k"].map((size) => sizes[size] ?? 0),
    `mnkbench_ranges_${table}`,
    ranges.length,
  ];
  return `  {${fields.join(", ")}},`;
}

/** A C string; what is not ASCII becomes the octal escapes of its UTF-8. */
function quoted(text: string): string {
  const bytes = [...new TextEncoder().encode(text)];
  const inner = bytes.map((byte) => {
    const character = String.fromCharCode(byte);
    return /[\w .=+,:;()<>/-]/.test(character) && byte < 127
      ? character
      : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${inner.join("")}"`;
}
