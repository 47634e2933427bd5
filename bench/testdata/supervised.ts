/**
 * What supervising the fake worker gives.
 *
 * @module
 */

import type { Event, Job } from "../worker/protocol.ts";
import { supervise, type SuperviseOptions } from "../worker/supervise.ts";
import { commandOf, JOB } from "./jobs.ts";

/** All that was said. */
export interface Told {
  readonly events: readonly Event[];
  /** `kernel status: note` of each row. */
  readonly rows: readonly string[];
  readonly printed: string;
}

/** Supervises workers of which case b behaves in the manner of that name. */
export async function tell(
  manner: string,
  options: Partial<SuperviseOptions & { job: Job }> = {},
): Promise<Told> {
  const events: Event[] = [];
  let printed = "";
  const all = supervise(commandOf(manner), options.job ?? JOB, {
    timeoutMs: 30_000,
    passport: { timer: "do_bench" },
    printed: (text) => printed += text,
    date: () => "2026-01-02T03:04:05Z",
    ...options,
  });
  for await (const event of all) events.push(event);
  const rows = events.filter((e) => e.event === "row").map(({ row }) =>
    `${row.key.kernel} ${row.status}: ${row.note}`
  );
  return { events, rows, printed };
}

/** The names of the events. */
export const names = (told: Told) => told.events.map((e) => e.event);
/** The row of case a. */
export const A = "a ok: ";
/** The beginning of the row of case c, which says at what a won. */
export const C = "c ok: a won at ";
