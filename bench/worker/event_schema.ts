/**
 * Defines the schema of the events of a worker.
 *
 * @module
 */

import {
  array,
  exactOptional,
  type GenericSchema,
  literal,
  number,
  object,
  picklist,
  pipe,
  readonly,
  string,
  variant,
} from "valibot";
import { calibrationSchema } from "../measure/calibration.ts";
import type { Spent } from "../measure/time_ledger.ts";
import {
  anyNumber,
  FAILURES,
  keySchema,
  rowSchema,
} from "../row/row_schema.ts";
import { timingEntrySchema } from "../tune/timing_entry.ts";

const config = { key: keySchema, config: string() };

const spent = object({
  build: anyNumber,
  calibrate: anyNumber,
  search: anyNumber,
  check: anyNumber,
  time: anyNumber,
  asked: anyNumber,
  total: anyNumber,
}) satisfies GenericSchema<Spent>;

/** The schema of an event. */
export const eventSchema = variant("event", [
  /** It has opened its device; `cases` are those it will run, skipped ones left out. */
  object({
    event: literal("ready"),
    device: string(),
    arch: string(),
    driver: string(),
    libraries: pipe(array(string()), readonly()),
    cases: number(),
  }),
  object({ event: literal("build"), done: number(), total: number() }),
  object({ event: literal("calibration"), calibration: calibrationSchema }),
  /** Something for the person at the keyboard, which changes no row. */
  object({ event: literal("notice"), text: string() }),
  /** Now at work on this case: whatever kills the worker, this case did. */
  object({ event: literal("case"), key: keySchema }),
  /**
   * A sign of life within a case, such as `search 120/300`; `trying` is what a search tries
   * now: whatever kills the worker, this config did.
   */
  object({
    event: literal("progress"),
    note: string(),
    trying: exactOptional(object(config)),
  }),
  /** A sign of life that changes nothing else; not passed on. */
  object({ event: literal("alive") }),
  /** One config of a search; `crash`, `timeout` or `launch` where its worker is lost. */
  object({
    ...config,
    event: literal("config"),
    status: picklist(["ok", ...FAILURES]),
    median_us: exactOptional(anyNumber),
    note: string(),
  }),
  /**
   * How the config of a case was chosen: `timed` configs, of which `failed` were wrong or did
   * not run; those in the finals, fastest first.
   */
  object({
    ...config,
    event: literal("tuned"),
    by: picklist(["fixed", "first", "search", "cache", "tuner", ""]),
    us: exactOptional(number()),
    timed: number(),
    failed: number(),
    ms: number(),
    finalists: pipe(
      array(object({ config: string(), us: number() })),
      readonly(),
    ),
    entry: exactOptional(timingEntrySchema),
  }),
  /** A finished case; `samples` are nanoseconds in the order they were taken. */
  object({
    event: literal("row"),
    row: rowSchema,
    samples: exactOptional(pipe(array(anyNumber), readonly())),
  }),
  /** It ends itself because a launch failed; start another to go on. */
  object({ event: literal("restart") }),
  /** Bytes of JavaScript's heap and of buffers outside of it, at most, between cases. */
  object({ event: literal("done"), spent, memoryBytes: number() }),
  /** It cannot go on, and another worker could not either. */
  object({ event: literal("fatal"), message: string(), code: number() }),
]);
