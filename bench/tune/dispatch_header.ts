/**
 * Dispatch tables as a C header: static data and two functions, for a serving stack.
 *
 * @module
 */

import type { DispatchRange } from "./dispatch.ts";
import { parseValues, type Scalar } from "../model/grid.ts";

/** The ranges of one problem along one of its axes. */
export interface DispatchTable {
  readonly op: string;
  /** The axis that is looked up. */
  readonly axis: string;
  /** The values of the problem's other axes; `null` for one that equals the axis. */
  readonly axes: Readonly<Record<string, string | null>>;
  readonly ranges: readonly DispatchRange[];
}

/** The origin of a header's figures, for its first lines. */
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
  const char *name;
  const char *value; /* in a table: NULL where it equals the table's axis */
} mnkbench_axis;

typedef struct {
  const char *op;
  const char *axis; /* the axis whose value mnkbench_choose takes */
  const mnkbench_axis *axes;
  size_t axis_count;
  const mnkbench_range *ranges;
  size_t range_count;
} mnkbench_table;
`;

const FUNCTIONS = `static inline const char *mnkbench_value(
    const mnkbench_axis *axes, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(axes[i].name, name) == 0) return axes[i].value;
  return "";
}

/* The table of a problem, or NULL. \`axes\` has a value of each axis of the
   operation. Look the table up once and keep it. */
static inline const mnkbench_table *mnkbench_find(
    const char *op, const mnkbench_axis *axes, size_t count) {
  for (size_t i = 0; i < mnkbench_table_count; i++) {
    const mnkbench_table *t = &mnkbench_tables[i];
    const char *size = mnkbench_value(axes, count, t->axis);
    size_t same = 0;
    if (strcmp(t->op, op) != 0) continue;
    for (; same < t->axis_count; same++) {
      const char *own = t->axes[same].value;
      if (strcmp(own ? own : size,
                 mnkbench_value(axes, count, t->axes[same].name)) != 0)
        break;
    }
    if (same == t->axis_count) return t;
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
${tables.map(dataText).join("\n")}
static const mnkbench_table mnkbench_tables[] = {
${tables.map(tableText).join("\n")}
};
static const size_t mnkbench_table_count = ${tables.length};

${FUNCTIONS}
#endif
`;
}

function dataText({ axes, ranges }: DispatchTable, table: number): string {
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
  const pairs = Object.entries(axes).map(([name, value]) =>
    `{${quoted(name)}, ${value === null ? "NULL" : quoted(value)}}`
  );
  return `static const mnkbench_axis mnkbench_axes_${table}[] = {${
    pairs.join(", ") || "{NULL, NULL}"
  }};
${tunables}static const mnkbench_range mnkbench_ranges_${table}[] = {
${lines.join("\n")}
};
`;
}

function tunableText([name, value]: [string, Scalar]): string {
  const whole = Number.isSafeInteger(value) ? value : 0;
  return `{${quoted(name)}, ${quoted(`${value}`)}, ${whole}}`;
}

function tableText(
  { op, axis, axes, ranges }: DispatchTable,
  table: number,
): string {
  const fields = [
    ...[op, axis].map(quoted),
    ...[`mnkbench_axes_${table}`, Object.keys(axes).length],
    ...[`mnkbench_ranges_${table}`, ranges.length],
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
