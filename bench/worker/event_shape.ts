/**
 * Whether values out of JSON are events of a worker.
 *
 * @module
 */

import {
  type Fields,
  hasNumbers,
  hasTexts,
  isFields,
  isNumbers,
} from "../files/json_shape.ts";
import { isCalibration } from "../measure/calibration.ts";
import { FIGURE_COLUMNS, type Row } from "../row/row.ts";
import { STATUSES } from "../row/csv_row.ts";
import { isKey } from "../row/row_schema.ts";
import type { Event } from "./protocol.ts";

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
  const { key, place, provenance, status, figures, accuracy } = value;
  return isKey(key) && hasTexts(place, ["device", "arch"]) &&
    isFields(provenance) && hasTexts(value, ["config", "config_by", "note"]) &&
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
