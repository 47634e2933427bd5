/**
 * Cases measured in workers of this program, their rows kept in memory.
 *
 * @module
 */

import { recordOf } from "../../bench/row/csv.ts";
import type { CsvRow, KeptRow } from "../../bench/row/csv_row.ts";
import type { Job } from "../../bench/worker/protocol.ts";
import { combine } from "../../bench/row/results.ts";
import { keyText } from "../../bench/row/row.ts";
import type { Evidence } from "../../report/diff/interval.ts";
import { type ProgressView, runJob } from "../run_job.ts";

/** The rows of cases that were measured one or more times. */
export class Measured {
  readonly #rows = new Map<string, KeptRow[]>();
  readonly #samples = new Map<string, (readonly number[])[]>();

  /** The winning configs so far, by key text. */
  get winners(): Record<string, string> {
    const timed = [...this.#rows].flatMap(([key, rows]) => {
      const row = rows.find(({ status }) => status === "ok");
      return row === undefined ? [] : [[key, row.config] as const];
    });
    return Object.fromEntries(timed);
  }

  /** The measurement of each case, by key text: one row, and all samples. */
  get evidence(): ReadonlyMap<string, Evidence> {
    const all = [...this.#rows].map(([key, rows]) => {
      const row: CsvRow = recordOf(combine(rows));
      return [key, { row, repeats: this.#samples.get(key) ?? [] }] as const;
    });
    return new Map(all);
  }

  /** Measures the cases of `job` once more, in a worker of its own. */
  async measure(
    job: Job,
    { progress, timeout, signal, done }: {
      readonly progress: ProgressView;
      readonly timeout: number;
      readonly signal: AbortSignal;
      readonly done: number;
    },
  ): Promise<number> {
    const end = await runJob(job, {
      progress,
      timeout,
      signal,
      done,
      failed: 0,
      take: (event) => {
        if (event.event !== "row" || event.row.status === "checked") return;
        const key = keyText(event.row.key);
        append(this.#rows, key, event.row);
        if (event.samples) append(this.#samples, key, event.samples);
      },
    });
    return end.done;
  }
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
}
