/**
 * Whether values out of JSON have the shape that they should have.
 *
 * @module
 */

import type { Calibration, Event } from "../worker/protocol.ts";
import { FIGURE_COLUMNS, type Key, KEY_COLUMNS, type Row } from "../row/row.ts";
import { STATUSES } from "../row/row_rules.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The value behind a JSON text; nothing where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

/** Whether `value` is an object with names. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` has a text under each of `names`. */
export function hasTexts(value: unknown, names: readonly string[]): boolean {
  return isFields(value) &&
    names.every((name) => typeof value[name] === "string");
}

function hasNumbers(value: unknown, names: readonly string[]): boolean {
  return isFields(value) &&
    names.every((name) => typeof value[name] === "number");
}

/** Whether `value` is a list of numbers. */
export function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((v) => typeof v === "number");
}

/** Whether `value` is a case's key. */
export function isKey(value: unknown): value is Key {
  return hasTexts(value, KEY_COLUMNS);
}

/** Whether `value` is what was measured of a device. */
export function isCalibration(value: unknown): value is Calibration {
  if (!isFields(value)) return false;
  const { load, peak, graph_us } = value;
  return hasNumbers(value, ["marker_us", "launch_us"]) &&
    (graph_us === undefined || typeof graph_us === "number") &&
    Array.isArray(load) && load.every((v) => hasNumbers(v, ["bytes", "us"])) &&
    isFields(peak) && isNumbers(Object.values(peak));
}

const REQUIRED_FIGURES = FIGURE_COLUMNS.filter((column) =>
  column !== "between_run_us" && column !== "sol_us"
);

const ERRORS = ["max_abs_err", "max_rel_err", "rel_l2_err", "mismatches"];

/** Those that are kept, and that of rows which are only checked. */
const ALL_STATUSES: ReadonlySet<string> = new Set(
  [...STATUSES, "checked" satisfies Row["status"]],
);

function isRow(value: unknown): value is Row {
  if (!isFields(value)) return false;
  const { key, place, passport, status, figures, accuracy } = value;
  return isKey(key) && hasTexts(place, ["device", "arch"]) &&
    isFields(passport) && hasTexts(value, ["config", "config_by", "note"]) &&
    ALL_STATUSES.has(`${status}`) &&
    (status !== "ok" || hasNumbers(figures, REQUIRED_FIGURES)) &&
    (hasNumbers(accuracy, ERRORS) ||
      (accuracy === undefined && status !== "ok" && status !== "checked"));
}

const SPENT = ["build", "calibrate", "search", "check", "time", "asked"];

const SHAPES: {
  readonly [E in Event["event"]]: (fields: Fields) => boolean;
} = {
  ready: (e) =>
    hasTexts(e, ["device", "arch", "driver"]) && hasNumbers(e, ["cases"]) &&
    Array.isArray(e.libraries),
  build: (e) => hasNumbers(e, ["done", "total"]),
  calibration: (e) => isCalibration(e.calibration),
  notice: (e) => hasTexts(e, ["text"]),
  case: (e) => isKey(e.key),
  progress: (e) =>
    hasTexts(e, ["note"]) &&
    (e.trying === undefined ||
      (hasTexts(e.trying, ["config"]) && isFields(e.trying) &&
        isKey(e.trying.key))),
  config: (e) => isKey(e.key) && hasTexts(e, ["config", "status", "note"]),
  tuned: (e) =>
    isKey(e.key) && hasTexts(e, ["config", "by"]) &&
    hasNumbers(e, ["timed", "failed", "ms"]) &&
    (e.us === undefined || typeof e.us === "number") &&
    Array.isArray(e.finalists) &&
    e.finalists.every((f) =>
      hasTexts(f, ["config"]) && hasNumbers(f, ["us"])
    ) &&
    (e.entry === undefined || isFields(e.entry)),
  row: (e) => isRow(e.row) && (e.samples === undefined || isNumbers(e.samples)),
  alive: () => true,
  restart: () => true,
  done: (e) =>
    hasNumbers(e, ["memoryBytes"]) && hasNumbers(e.spent, [...SPENT, "total"]),
  fatal: (e) => hasTexts(e, ["message"]) && hasNumbers(e, ["code"]),
};

/** Whether `value` is an event with all that belongs to it. */
export function isEvent(value: unknown): value is Event {
  if (!isFields(value) || typeof value.event !== "string") return false;
  return Object.hasOwn(SHAPES, value.event) &&
    SHAPES[value.event as Event["event"]](value);
}
