/**
 * Defines the messages between the process that keeps results and the one that runs kernels.
 *
 * A worker gets one {@linkcode Job} as a line of JSON on its standard input, and answers
 * with {@linkcode Event}s on its standard output, each as an RFC 7464 record (a record
 * separator, JSON, a line feed) with the job's nonce before its JSON. Whatever else
 * appears there was printed by a kernel.
 *
 * @module
 */

import type { InferOutput } from "valibot";
import type { Selection, Settings } from "../model/settings.ts";
import type { Place } from "../model/suite.ts";
import type { KnownConfigs } from "../tune/config_book.ts";
import type { eventSchema } from "./event_schema.ts";
import type { Calibration } from "../measure/calibration.ts";

/** The cases at one point of a suite, as a worker is sent them. */
export interface CaseGroup {
  /** The suite's name. */
  readonly suite: string;
  readonly place: Place;
  /** The names of the kernels. */
  readonly kernels: readonly string[];
}

/** The work of one worker. */
export interface Job
  extends Pick<Selection, "suites" | "backend" | "device" | "peers"> {
  /** The cases to run, in this order. */
  readonly cases: readonly CaseGroup[];
  readonly settings: Settings;
  /** Keys (as text) of those that have their row already. */
  readonly skip: readonly string[];
  /** Known configs of the cases. */
  readonly configs: KnownConfigs;
  /** Names the run in its rows. */
  readonly run: string;
  /** A calibration of the device, if there is one already. */
  readonly calibration?: Calibration;
  /**
   * Repeated in every record, so that no kernel prints what looks like one. Whoever
   * starts the worker makes it.
   */
  readonly nonce?: string;
}

/** Takes what a worker says. */
export type Emit = (event: Event) => void;

/** A message of a worker; see {@linkcode eventSchema} for the fields of each. */
export type Event = Readonly<InferOutput<typeof eventSchema>>;

/** The event of a case whose config was chosen. */
export type Tuned = Extract<Event, { event: "tuned" }>;

/** Returns the beginning of each record of a worker. */
export function markOf(nonce: string): string {
  return `\x1e${nonce}`;
}

/** `event` as a record of the worker whose job has `nonce`. */
export function formatEvent(event: Event, nonce: string): string {
  return `${markOf(nonce)}${JSON.stringify(event, spell)}\n`;
}

/**
 * Parses one line of a worker's output: a record's value, which need not be an event,
 * and what a kernel printed before it.
 *
 * @throws {SyntaxError} For a record that is no JSON.
 */
export function parseEvent(
  line: string,
  nonce: string,
): { readonly value?: unknown; readonly printed: string } {
  const mark = markOf(nonce);
  const at = line.lastIndexOf(mark);
  if (at < 0) return { printed: line };
  return {
    value: JSON.parse(line.slice(at + mark.length), revive) as unknown,
    printed: line.slice(0, at),
  };
}

const WORDS: readonly string[] = ["NaN", "Infinity", "-Infinity"];

/** For `JSON.stringify`: a number that is not finite becomes `{"number":"NaN"}`. */
export function spell(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value)
    ? { number: `${value}` }
    : value;
}

/** For `JSON.parse`: turns back what {@linkcode spell} made, and nothing else. */
export function revive(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { number, ...others } = value as Record<string, unknown>;
  return typeof number === "string" && WORDS.includes(number) &&
      Object.keys(others).length === 0
    ? Number(number)
    : value;
}
