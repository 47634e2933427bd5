/**
 * Shows one row in full: what was timed, how near it is to its bounds, and what is known of its
 * build.
 *
 * @module
 */

import { aligned } from "../../bench/files/terminal_text.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { loweredBy } from "../../bench/row/row.ts";
import { labelOf, pointOf } from "../model/axes.ts";
import { isNoisyRow } from "../model/noise.ts";
import { type Pivot, speedup } from "../model/pivot.ts";
import { isAboveSol, isRemembered, soundTimeOf, timeOf } from "../model/sol.ts";
import { timingOf } from "../model/timing.ts";
import { formatMicroseconds, formatRate } from "./metrics.ts";

/** A row, and the table that it stands in. */
export interface Found {
  readonly table: Pivot;
  /** The name of its contender. */
  readonly name: string;
  readonly row: CsvRow;
}

/**
 * Finds the rows of `tables` that every one of `words` names: a suite, kernel, timer, or a shape
 * such as `16x16x8192`, or the value of an axis, as `m=16` or alone.
 */
export function findRows(
  tables: readonly Pivot[],
  words: readonly string[],
): readonly Found[] {
  return tables.flatMap((table) =>
    table.shapes.flatMap(({ rows }) =>
      [...rows].flatMap(([name, row]): Found[] => {
        const known = namesIn(row, name);
        const isNamed = words.every((word) =>
          known.has(word.replaceAll("×", "x"))
        );
        return isNamed ? [{ table, name, row }] : [];
      })
    )
  );
}

function namesIn(row: CsvRow, name: string): ReadonlySet<string> {
  // The operation of qmm is called as one of its kernels.
  const point = Object.entries(pointOf(row)).filter(([axis]) => axis !== "op");
  return new Set([
    ...[row.suite, row.kernel, name, row.backend, row.device, row.timer],
    `${row.m}x${row.n}x${row.k}`,
    ...point.flatMap(([axis, value]) => [value, `${axis}=${value}`]),
  ]);
}

/** Names a row in a line. */
export function titleOfRow({ row }: Found): string {
  const { suite, kernel, backend, params } = row;
  const shape = labelOf(row, ["layout"]);
  const what = [suite, kernel, backend, shape, params, timingOf(row)];
  return what.filter((part) => part !== "").join(" ");
}

/** What no row and no binary says; Nsight Compute does. */
const UNKNOWN = "not recorded";

/** What is known of a row from elsewhere. */
export interface Beside {
  /** What its kernels take of a multiprocessor, where their binary is there. */
  readonly needs?: string | undefined;
  /** The command that profiles it. */
  readonly profile?: string | undefined;
}

/** Formats all that is known of a row. */
export function formatRow(
  found: Found,
  { needs = UNKNOWN, profile }: Beside,
): string[] {
  const { row } = found;
  const lines: (readonly [string, string])[] = [
    ["status", row.note === "" ? row.status : `${row.status}: ${row.note}`],
    ["device", `${row.device} (${row.arch})`],
    ...(timeOf(row) === undefined ? [] : figureLines(found)),
    ["config", row.config === "" ? "none" : `${row.config} (${row.config_by})`],
    ...(timeOf(row) === undefined ? [] : [
      ["registers, spills", needs],
      ["waves", UNKNOWN],
      ["clocks", clocksOf(row)],
    ] as const),
    ["accuracy", accuracyOf(row)],
    [
      "built by",
      listed([row.compiler, row.library, row.driver && `driver ${row.driver}`]),
    ],
    [
      "code",
      listed([
        row.code_hash && `code ${row.code_hash}`,
        row.source_hash && `source ${row.source_hash}`,
        row.binary_hash && `binary ${row.binary_hash}`,
      ]),
    ],
    [
      "run",
      listed([row.run, row.time, row.harness && `mnkbench ${row.harness}`]),
    ],
    ...(profile === undefined
      ? []
      : [["profile", profile] as [string, string]]),
  ];
  return [
    titleOfRow(found),
    ...aligned(lines.map(([what, text]) => [`  ${what}`, text])),
  ];
}

function figureLines({ table, name, row }: Found): [string, string][] {
  const us = timeOf(row)!;
  const flops = Number(row.flops || NaN);
  const bytes = Number(row.bytes || NaN);
  const shape = table.shapes.find(({ rows }) => rows.get(name) === row)!;
  const factor = speedup(shape, name, table.baseline);
  const best = shape.best === undefined
    ? undefined
    : shape.rows.get(shape.best);
  // Relative to the baseline the factor says it.
  const slower = best === undefined || best === row ||
      (shape.best === table.baseline && factor !== undefined)
    ? undefined
    : us / timeOf(best)!;
  const isCompared =
    [...shape.rows.values()].filter((one) => soundTimeOf(one) !== undefined)
      .length > 1;
  return [
    ["time", timesOf(row)],
    [
      "work",
      listed([
        scaled(flops, "flop"),
        scaled(bytes, "B"),
        isFinite(flops / bytes) ? `${(flops / bytes).toFixed(1)} flop/B` : "",
      ]),
    ],
    [
      "rate",
      listed([
        row.tflops && `${formatRate(Number(row.tflops))} TFLOP/s`,
        row.gbps && `${formatRate(Number(row.gbps))} GB/s`,
      ]),
    ],
    [
      "speed of light",
      row.sol_us === ""
        ? UNKNOWN
        : `${formatMicroseconds(Number(row.sol_us))} µs: ${
          percent(Number(row.sol_us) / us)
        } of it is reached`,
    ],
    [
      "launch overhead",
      Number(row.floor_us) > 0
        ? `${formatMicroseconds(Number(row.floor_us))} µs, ${
          percent(Number(row.floor_us) / us)
        } of the time`
        : UNKNOWN,
    ],
    ["limited by", limitOf(row)],
    [
      "beside others",
      listed([
        factor === undefined ? "" : `${factor.toFixed(2)}x ${table.baseline}`,
        best === row && isCompared ? "fastest at its shape" : "",
        slower === undefined
          ? ""
          : `${slower.toFixed(2)} times the time of ${shape.best}`,
      ]),
    ],
  ];
}

function timesOf(row: CsvRow): string {
  const micro = (
    column: "median_us" | "q1_us" | "q3_us" | "min_us" | "mean_us",
  ) => row[column] === "" ? "" : formatMicroseconds(Number(row[column]));
  if (row.median_us === "") return `mean ${micro("mean_us")} µs`;
  const runs = Number(row.runs || 1);
  return listed([
    `median ${micro("median_us")} µs${isNoisyRow(row) ? " (noisy)" : ""}`,
    row.q1_us && `quartiles ${micro("q1_us")} to ${micro("q3_us")}`,
    row.min_us && `least ${micro("min_us")}`,
    row.mean_us && `mean ${micro("mean_us")}`,
    row.samples && `${row.samples} samples`,
    runs > 1
      ? `${runs} runs, ±${formatMicroseconds(Number(row.between_run_us))} µs`
      : "",
  ]);
}

/** The shares of the time above which launch overhead, or the speed of light, is the limit. */
const [LAUNCH, LIGHT] = [0.5, 0.8];

/** Says what the time mostly consists of, as far as the row shows it. */
function limitOf(row: CsvRow): string {
  const us = timeOf(row)!;
  if (isAboveSol(row)) {
    return "nothing known: the time is above the speed of light";
  }
  if (isRemembered(row)) return "nothing known: results may be remembered";
  const launch = Number(row.floor_us) / us;
  const light = row.sol_us === "" ? 0 : Number(row.sol_us) / us;
  if (light >= LIGHT) {
    return `the device: ${percent(light)} of the speed of light`;
  }
  if (launch >= LAUNCH) return "launch overhead";
  return light > 0
    ? `the kernel: ${
      percent(1 - light)
    } of the time is beyond the speed of light`
    : "unknown: no speed of light was measured with this timer";
}

function clocksOf(row: CsvRow): string {
  const lowered = loweredBy(row.throttle);
  return listed([
    Number(row.sm_mhz) > 0 ? `SM ${row.sm_mhz} MHz` : "",
    Number(row.mem_mhz) > 0 ? `memory ${row.mem_mhz} MHz` : "",
    Number(row.power_w) > 0 ? `${Number(row.power_w).toFixed(0)} W` : "",
    Number(row.temp_c) > 0 ? `${row.temp_c} °C` : "",
    lowered === "" ? "" : `lowered by ${lowered}`,
  ]);
}

function accuracyOf(row: CsvRow): string {
  const short = (text: string) => Number(text).toPrecision(3);
  return listed([
    row.max_abs_err && `greatest error ${short(row.max_abs_err)}`,
    row.rel_l2_err && `relative L2 ${short(row.rel_l2_err)}`,
    row.mismatches && `${row.mismatches} elements beyond the tolerance`,
    row.deterministic === "true" ? "same bits twice" : "",
  ]);
}

function listed(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part).join(", ") || UNKNOWN;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

const PREFIXES = ["", "k", "M", "G", "T"];

/** Formats `value` with a decimal prefix; empty where it is none. */
function scaled(value: number, unit: string): string {
  if (!isFinite(value)) return "";
  const at = Math.min(
    PREFIXES.length - 1,
    Math.floor(Math.log10(Math.max(1, value)) / 3),
  );
  return `${formatMicroseconds(value / 1000 ** at)} ${PREFIXES[at]}${unit}`;
}
