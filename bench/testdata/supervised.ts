/**
 * Results of supervising the fake worker.
 *
 * @module
 */

import type { Event, Job } from "../worker/protocol.ts";
import type { SuperviseOptions } from "../worker/attend.ts";
import { supervise } from "../worker/supervise.ts";
import { ManualClock } from "./manual_clock.ts";
import { commandOf, JOB } from "./jobs.ts";

/** All that was said. */
export interface Told {
  readonly events: readonly Event[];
  /** `kernel status: note` of each row. */
  readonly rows: readonly string[];
  readonly printed: string;
}

/** Options of {@linkcode tell}. */
interface TellOptions extends Partial<SuperviseOptions> {
  readonly job?: Job;
  /** The worker. @default {the fake one} */
  readonly command?: readonly [string, ...string[]];
  /** The folder that the worker is given. */
  readonly folder?: string;
  /** Takes each event, before the next is waited for. */
  heard?(event: Event): void;
}

/** Supervises workers of which case b behaves in the manner of that name. */
export async function tell(
  manner: string,
  {
    job = JOB,
    folder,
    heard,
    command = commandOf(manner, ...folder === undefined ? [] : [folder]),
    ...options
  }: TellOptions = {},
): Promise<Told> {
  const events: Event[] = [];
  let printed = "";
  const all = supervise(command, job, {
    timeoutMs: 30_000,
    provenance: { timer: "do_bench", cache: "cold" },
    date: () => "2026-01-02T03:04:05Z",
    ...options,
    printed(text) {
      printed += text;
      options.printed?.(text);
    },
  });
  for await (const event of all) {
    events.push(event);
    heard?.(event);
  }
  const rows = events.filter((e) => e.event === "row").map(({ row }) =>
    `${row.key.kernel} ${row.status}: ${row.note}`
  );
  return { events, rows, printed };
}

/** The silence of workers, by a clock of its own. */
export class Silence {
  readonly #clock = new ManualClock();
  readonly #abort = new AbortController();
  /** Supervises by that clock, and no longer once a silence did not end in time. */
  readonly options = { clock: this.#clock, signal: this.#abort.signal };
  /** Of each silence, how many timers rang before its last millisecond, and in it. */
  readonly rung: (readonly [number, number])[] = [];

  /**
   * Lets `ms` milliseconds of silence pass, once all that came before has been taken and
   * a timer waits for the end of the silence.
   */
  async pass(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    await this.#clock.armed();
    const rung = [this.#clock.advance(ms - 1), this.#clock.advance(1)] as const;
    this.rung.push(rung);
    if (rung[1] !== 1) this.#abort.abort();
  }
}

/** The names of the events. */
export const names = (told: Told) => told.events.map((e) => e.event);
/** The row of case a. */
export const A = "a ok: ";
/** The beginning of the row of case c, which says at what a won. */
export const C = "c ok: a won at ";

/** Returns whether a process runs; one that only waits for its parent to look does not. */
export function lives(pid: number): boolean {
  try {
    if (Deno.build.os === "linux") {
      return !/^\d+ \(.*\) [ZX]/.test(
        Deno.readTextFileSync(`/proc/${pid}/stat`),
      );
    }
    Deno.kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Beyond what a busy machine takes, and less than anything here blocks. */
const PATIENCE_MS = 60_000;

/** Waits for the ends of processes that were killed. Returns whether they came. */
export async function ended(...pids: readonly number[]): Promise<boolean> {
  const start = performance.now();
  while (pids.some(lives)) {
    if (performance.now() - start > PATIENCE_MS) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
