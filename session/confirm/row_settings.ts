/**
 * How a row was timed, as the settings that time it so again.
 *
 * @module
 */

import {
  DEFAULTS,
  isTimer,
  type Settings,
} from "../../bench/model/settings.ts";
import { numberOf } from "../../bench/row/csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { FILLS } from "../../bench/model/inputs.ts";
import { titleOf } from "../../report/diff/diff.ts";
import { cannot } from "./cases.ts";

/** The settings that a row tells. */
export type RowSettings = Pick<
  Settings,
  "seed" | "fill" | "warmup" | "rep" | "timer" | "cache" | "flush"
>;

/** Where operands take turns nothing is flushed, and the row does not say what would be. */
const FLUSHES = {
  zero: "zero",
  read: "read",
  rotate: DEFAULTS.flush,
  "": DEFAULTS.flush,
} as const;

/**
 * The settings behind `row`.
 *
 * @throws {UserError} Where it was timed as this program times nothing, as published rows
 * may be.
 */
export function rowSettings(row: CsvRow): RowSettings {
  const refuse = (column: "timer" | "cache" | "flush" | "fill") =>
    cannot(
      `${titleOf(row)} was measured with ${column} ${
        row[column] || "none"
      }, which \`bench\` does not offer; leave its rows out of both sides`,
    );
  const { timer, cache, flush } = row;
  const fill = FILLS.find((name) => name === (row.fill || DEFAULTS.fill));
  if (!isTimer(timer)) throw refuse("timer");
  if (cache !== "cold" && cache !== "warm") throw refuse("cache");
  if (!isFlush(flush)) throw refuse("flush");
  if (fill === undefined) throw refuse("fill");
  return {
    seed: numberOf(row, "seed") ?? DEFAULTS.seed,
    fill,
    warmup: numberOf(row, "warmup_ms") ?? DEFAULTS.warmup,
    rep: numberOf(row, "rep_ms") ?? DEFAULTS.rep,
    timer,
    cache,
    flush: FLUSHES[flush],
  };
}

function isFlush(text: string): text is keyof typeof FLUSHES {
  return Object.hasOwn(FLUSHES, text);
}
