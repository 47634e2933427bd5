/**
 * Defines the schema of a row of a CSV: a check of each column.
 *
 * @module
 */

import {
  check,
  type GenericSchema,
  nonEmpty,
  picklist,
  pipe,
  regex,
  safeParse,
  string,
} from "valibot";
import { COLUMNS, FIGURE_COLUMNS, PUBLISHED, SCHEMA } from "./columns.ts";
import { BYTES } from "../model/dtype.ts";
import { LAYOUT, PARAMS } from "../model/problem.ts";
import { show } from "../model/errors.ts";
import { isTimer } from "../model/settings.ts";
import { type CheckedRow, FAILURES, type Row } from "./row_schema.ts";

/** The name of a column. */
export type Column = typeof COLUMNS[number];

/** A row as it stands in a CSV: text by column, empty where there is no value. */
export type CsvRow = Readonly<Record<Column, string>>;

/** A row that may be kept: a case that was only checked is in no CSV. */
export type KeptRow = Exclude<Row, CheckedRow>;

/** The values of `status` in a kept row. */
const STATUSES = ["ok", ...FAILURES] as const;

/** The schemas that are read: see `ADDED_COLUMNS`. */
export const SCHEMAS_READ = ["1", `${SCHEMA}`] as const;

const DECIMAL = /^\d+(\.\d+)?(e[+-]?\d+)?$/i;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** A picosecond and a year, in microseconds: readers divide by durations and draw them. */
const [LEAST_US, MOST_US] = [1e-6, 365 * 24 * 3600e6];

/** A column that is empty or a number from `least` to `most`, as `range` says. */
function number(least: number, most: number, range: string) {
  const fits = (value: string) => {
    const number = Number(value);
    return value === "" ||
      number >= least && number <= most && DECIMAL.test(value);
  };
  return pipe(string(), check(fits, `it must be a ${range}`));
}

const amount = number(0, Number.MAX_VALUE, "finite number of at least 0");
const count = pipe(
  string(),
  check(
    (value) => /^\d*$/.test(value) && Number(value) <= Number.MAX_SAFE_INTEGER,
    "it must be a whole number of at most 2^53 - 1",
  ),
);
const size = pipe(
  string(),
  check(
    (value) =>
      /^(\d*[1-9]\d*)?$/.test(value) &&
      Number(value) <= Number.MAX_SAFE_INTEGER,
    "it must be a whole number from 1 to 2^53 - 1",
  ),
);
const type = picklist(
  ["", ...Object.keys(BYTES)],
  `it must be one of ${Object.keys(BYTES).join(", ")}`,
);
const duration = number(LEAST_US, MOST_US, "time from 1e-6 µs to a year");
/** A quartile may be less than a tick of the clock. */
const quartile = number(0, MOST_US, "time of at most a year");
/** The greatest error of an output with NaN is NaN. */
const error = pipe(
  string(),
  check(
    (value) =>
      /^(NaN|Infinity|)$/.test(value) ||
      DECIMAL.test(value) && Number.isFinite(Number(value)),
    "it must be a number of at least 0, Infinity or NaN",
  ),
);

/** Characters of a cell at most: the text of a longer one would take minutes to lay out. */
export const MOST_CHARACTERS = 20_000;

/** The backends that rows may have. */
export const BACKENDS = ["cuda", "hip", "metal", "cpu"] as const;

/** Columns without a schema may have any text. */
const CHECKS: Partial<Record<Column, GenericSchema<string>>> = {
  // It names a file; not all published rows have a suite.
  suite: pipe(
    string(),
    regex(
      /^(\w[\w.-]{0,99})?$/,
      "it must be the name of a suite: letters, digits, _, . and -, at most 100",
    ),
  ),
  kernel: pipe(
    string(),
    nonEmpty("it must name a kernel"),
    regex(
      /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u,
      "it must be a name without line ends and control characters",
    ),
  ),
  backend: picklist(
    ["", ...BACKENDS],
    `it must be one of ${BACKENDS.join(", ")}`,
  ),
  a_type: type,
  b_type: type,
  c_type: type,
  acc_type: type,
  layout: pipe(string(), regex(LAYOUT, "it must be a word such as nn")),
  m: size,
  n: size,
  k: size,
  params: pipe(
    string(),
    regex(PARAMS, "it must be name=value words, as in epilogue=relu"),
  ),
  status: picklist(STATUSES, `it must be one of ${STATUSES.join(", ")}`),
  ...Object.fromEntries(FIGURE_COLUMNS.map((column) => [column, amount])),
  median_us: duration,
  mean_us: duration,
  q1_us: quartile,
  q3_us: quartile,
  min_us: quartile,
  samples: count,
  runs: count,
  max_abs_err: error,
  max_rel_err: error,
  rel_l2_err: error,
  bits: amount,
  mismatches: amount,
  deterministic: picklist(["", "true", "false"], "it must be true or false"),
  flush_bytes: amount,
  warmup_ms: amount,
  rep_ms: amount,
  search_configs: amount,
  search_ms: amount,
  device_index: count,
  sm_mhz: amount,
  mem_mhz: amount,
  power_w: amount,
  temp_c: pipe(
    string(),
    regex(/^(-?\d+(\.\d+)?)?$/, "it must be a temperature"),
  ),
  seed: count,
  commit: pipe(
    string(),
    regex(/^[\w.+-]{0,64}$/, "it must be a commit or a version"),
  ),
  dirty: picklist(["", "true", "false"], "it must be true or false"),
  source_commit: pipe(
    string(),
    regex(/^[\da-f]{0,64}\+?$/, "it must be a commit, or one followed by +"),
  ),
  // Published rows have timers of others.
  timer: pipe(
    string(),
    check(
      (value) => isTimer(value) || !/^(batch|chain):/.test(value),
      "it must be batch:N, chain:N or chain:N:pdl, as in chain:32 (at most 9999 calls)",
    ),
  ),
  schema: picklist(
    SCHEMAS_READ,
    `this program reads ${SCHEMAS_READ.join(" and ")}`,
  ),
  time: pipe(
    string(),
    check(
      (value) =>
        value === "" || TIME.test(value) && !Number.isNaN(Date.parse(value)),
      "it must be a date and time such as 2026-11-20T15:49:05Z",
    ),
  ),
};

/** Returns what is wrong with `value` in `column`; nothing where it may stand there. */
export function flawOf(column: Column, value: string): string | undefined {
  if (value.length > MOST_CHARACTERS) {
    return `it has ${value.length} characters, and ${MOST_CHARACTERS} are the most`;
  }
  const check = CHECKS[column];
  return check && safeParse(check, value).issues?.[0].message;
}

/** Columns that all rows have but published ones, some of which lack what others did not say. */
const NEEDED = [
  "suite",
  "backend",
  "a_type",
  "b_type",
  "c_type",
  "acc_type",
  "m",
  "n",
  "k",
] as const;

/** The layouts of A and B of products, each as it is or transposed; others' operations have others. */
const LAYOUTS = ["nn", "nt", "tn", "tt"];

/** Returns what is wrong with the columns of the case; nothing where they can be. */
function flawOfCase(valueOf: (column: Column) => string): string | undefined {
  const layout = valueOf("layout");
  if (
    valueOf("op") === "matmul" && layout !== "" && !LAYOUTS.includes(layout)
  ) {
    return `column layout is ${show(layout)}: the op matmul has ${
      LAYOUTS.join(", ")
    }`;
  }
  if (valueOf("harness") === PUBLISHED) return undefined;
  const empty = NEEDED.find((column) => valueOf(column) === "");
  return empty && `column ${empty} is "": a row that was measured has it`;
}

/** A rate, its amount, and how often the unit of the rate has a unit of amount a microsecond. */
const RATES = [["tflops", "flops", 1e6], ["gbps", "bytes", 1e3]] as const;
/** Of each pair the first is at most the second. */
const ORDERED = [
  ["min_us", "q1_us"],
  ["q1_us", "q3_us"],
  ["min_us", "median_us"],
  ["min_us", "mean_us"],
] as const;
/** More than a spreadsheet rounds, which keeps 15 digits. */
const ROUNDING = 1e-9;

/**
 * Returns what columns of a row contradict, as an edited or damaged number does; nothing where
 * they agree.
 *
 * @param valueOf Returns the value of a column, by itself without a flaw.
 */
export function contradictionIn(
  valueOf: (column: Column) => string,
): string | undefined {
  const has = (column: Column) => valueOf(column) !== "";
  const number = (column: Column) => Number(valueOf(column));
  const flaw = flawOfCase(valueOf);
  if (flaw !== undefined) return flaw;
  const status = valueOf("status");
  if (status !== "ok") {
    return has("median_us")
      ? `column median_us is ${
        valueOf("median_us")
      }: a row with status ${status} has none`
      : undefined;
  }
  if (number("mismatches") > 0) {
    return `column mismatches is ${
      valueOf("mismatches")
    }: a row with status ok has none`;
  }
  const time = has("median_us") ? "median_us" : "mean_us";
  if (!has(time)) return undefined;
  const none = (["samples", "runs"] as const)
    .find((column) => has(column) && number(column) === 0);
  if (none !== undefined) {
    return `column ${none} is 0: a row with a time has at least 1`;
  }
  for (const [rate, amount, scale] of RATES) {
    if (!has(rate) || !has(amount)) continue;
    const expected = number(amount) / number(time) / scale;
    if (Math.abs(number(rate) - expected) > ROUNDING * expected) {
      return `column ${rate} is ${
        valueOf(rate)
      }: ${amount} and ${time} make it ${expected}`;
    }
  }
  for (const [low, high] of ORDERED) {
    if (!has(low) || !has(high)) continue;
    if (number(low) * (1 - ROUNDING) > number(high)) {
      return `column ${low} is ${valueOf(low)}: it is more than ${high}, ${
        valueOf(high)
      }`;
    }
  }
  return undefined;
}

/** Returns whether `row` lacks its time. Published rows may have a mean instead. */
export function lacksTime(
  row: Pick<CsvRow, "status" | "median_us" | "mean_us" | "harness">,
): boolean {
  if (row.status !== "ok" || row.median_us !== "") return false;
  return row.harness !== PUBLISHED || row.mean_us === "";
}
