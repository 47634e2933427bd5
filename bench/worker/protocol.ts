/**
 * What the process that keeps results and the process that runs kernels say to each other.
 *
 * A worker gets one {@linkcode Job} as a line of JSON on its standard input, and answers
 * with {@linkcode Event}s on its standard output, each as an RFC 7464 record (a record
 * separator, JSON, a line feed) with the job's nonce before its JSON. Whatever else
 * appears there was printed by a kernel.
 *
 * @module
 */

import type { Selection, Settings } from "../model/settings.ts";
import type { Place } from "../model/suite.ts";
import type { Failure } from "../model/errors.ts";
import type { KnownConfigs } from "../tune/config_book.ts";
import type { LostConfig } from "../tune/crashed_configs.ts";
import type { Key, Row } from "../row/row.ts";
import type { TimingEntry } from "../tune/timing_entry.ts";
import { revive, spell } from "./json_numbers.ts";
import type { Calibration } from "../measure/calibration.ts";
import type { Spent } from "../measure/time_ledger.ts";

/** The cases at one point of a suite, as a worker is sent them. */
export interface CaseGroup {
  /** The suite's name. */
  readonly suite: string;
  readonly place: Place;
  /** The names of the kernels. */
  readonly kernels: readonly string[];
}

/** What a worker is to do. */
export interface Job
  extends Pick<Selection, "suites" | "backend" | "device" | "peers"> {
  /** What is to be run on the backend, in this order. */
  readonly cases: readonly CaseGroup[];
  readonly settings: Settings;
  /** Keys (as text) of those that have their row already. */
  readonly skip: readonly string[];
  /** What is known of their configs. */
  readonly configs: KnownConfigs;
  /** Names the run in its rows. */
  readonly run: string;
  /** What was measured of the device already. */
  readonly calibration?: Calibration;
  /**
   * Repeated in every record, so that no kernel prints what looks like one. Whoever
   * starts the worker makes it.
   */
  readonly nonce?: string;
}

/** How the config of a case was chosen. */
export interface Tuned {
  readonly event: "tuned";
  readonly key: Key;
  readonly config: string;
  readonly by: Row["config_by"];
  /** Its time in the finals; missing where it was not timed. */
  readonly us?: number;
  /** Configs that were timed, and how many of them failed or were wrong. */
  readonly timed: number;
  readonly failed: number;
  readonly ms: number;
  /** Those that came to the finals, fastest first. */
  readonly finalists: readonly {
    readonly config: string;
    readonly us: number;
  }[];
  /** What a timing cache is to remember of it. */
  readonly entry?: TimingEntry;
}

/** Takes what a worker says. */
export type Emit = (event: Event) => void;

/** What a worker says. */
export type Event =
  /** It has opened its device; `cases` are those it will run, skipped ones left out. */
  | {
    readonly event: "ready";
    readonly device: string;
    readonly arch: string;
    readonly driver: string;
    readonly libraries: readonly string[];
    readonly cases: number;
  }
  | {
    readonly event: "build";
    readonly done: number;
    readonly total: number;
  }
  | { readonly event: "calibration"; readonly calibration: Calibration }
  /** Something for the person at the keyboard, which changes no row. */
  | { readonly event: "notice"; readonly text: string }
  /** Now at work on this case: whatever kills the worker, this case did. */
  | { readonly event: "case"; readonly key: Key }
  /** A sign of life within a case, such as `search 120/300`. */
  | {
    readonly event: "progress";
    readonly note: string;
    /** What a search tries now: whatever kills the worker, this config did. */
    readonly trying?: Pick<LostConfig, "key" | "config">;
  }
  /** A sign of life that changes nothing else; not passed on. */
  | { readonly event: "alive" }
  /** One config of a search; `crash`, `timeout` or `launch` where its worker is lost. */
  | {
    readonly event: "config";
    readonly key: Key;
    readonly config: string;
    readonly status: "ok" | Failure;
    readonly median_us?: number;
    readonly note: string;
  }
  /** How the config of a case was chosen. */
  | Tuned
  /** A finished case; `samples` are nanoseconds in the order they were taken. */
  | {
    readonly event: "row";
    readonly row: Row;
    readonly samples?: readonly number[];
  }
  /** It ends itself because a launch failed; start another to go on. */
  | { readonly event: "restart" }
  | {
    readonly event: "done";
    readonly spent: Spent;
    /** Bytes of JavaScript's heap and of buffers outside of it, at most, between cases. */
    readonly memoryBytes: number;
  }
  /** It cannot go on, and another worker could not either. */
  | {
    readonly event: "fatal";
    readonly message: string;
    readonly code: number;
  };

/** What each record of a worker begins with. */
export function markOf(nonce: string): string {
  return `\x1e${nonce}`;
}

/** `event` as a record of the worker whose job has `nonce`. */
export function formatEvent(event: Event, nonce: string): string {
  return `${markOf(nonce)}${JSON.stringify(event, spell)}\n`;
}

/**
 * What is in one line of a worker's output: a record's value, which need not be an event,
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
