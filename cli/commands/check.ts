/**
 * `mnkbench check`: whether kernels are right.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import { BRIEFS, define } from "../command.ts";
import {
  choiceFlags,
  python,
  runningFlags,
  shard,
  targetFlags,
  toggle,
  tuningFlags,
  type Words,
} from "../options/flags.ts";
import { counted } from "../../bench/files/terminal_text.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { parseJson, shownJson } from "../../bench/files/json_file.ts";
import { recordOf } from "../../bench/row/csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { RIGHT_ALONE, type Row } from "../../bench/row/row.ts";
import {
  csvRow,
  type FlatRow,
  flatRow,
  flatRowSchema,
} from "../../bench/row/flat_row.ts";
import { titleOf } from "../../session/phase_note.ts";
import { casesAnywhere } from "../../session/select.ts";
import { suiteNames } from "../../suites/mod.ts";
import {
  clusterFlags,
  refuseCluster,
  reportProgress,
  runShards,
} from "../slurm.ts";
import { formatNotes } from "../../report/table/notes.ts";
import {
  Interrupt,
  jsonRow,
  logLine,
  printLine,
  Progress,
} from "../terminal/output.ts";
import { settingsOf } from "../../session/options.ts";
import { notRun } from "../../session/own_kernels.ts";
import { checkCases } from "../../session/library/check_cases.ts";
import { exitCodeOf, isFailure } from "../../session/run_job.ts";
import { sourceFlags, withFile } from "../options/source.ts";

/** `mnkbench check`. */
export const command = define({
  name: "check",
  brief: BRIEFS.check,
  examples: [
    "check --suite matmul-bf16 --kernel decompose-k",
    "check --suite ./my_suite.ts --m 19 --n 64 --k 128",
  ],
  codes: {
    0: "all cases are right or unsupported",
    1: "a case failed; stopped by Ctrl-C it is 130",
    3: "no usable device, no case, or no own kernel of a suite file ran",
  },
  flags,
  run: check,
});

function flags(words: Words) {
  return merge(
    sourceFlags(
      "A .c, .cu, .hip or .metal file with one kernel, or a Python function mine.py:fn, which alone is checked unless --kernel names others; or a suite file.",
    ),
    choiceFlags(words, "all"),
    targetFlags(words, true),
    tuningFlags(),
    runningFlags(),
    object("Python", { python: python() }),
    object("Results", {
      shard: shard(),
      json: toggle("--json", "Print rows as lines of JSON."),
    }),
    clusterFlags(),
  );
}

type CheckOptions = InferValue<ReturnType<typeof flags>>;

/** Checks, and keeps nothing. @returns The exit code. */
async function check(given: CheckOptions): Promise<number> {
  refuseCluster(given, { "--shard": given.shard !== undefined });
  const options = await withFile(given, { alone: true });
  if (given.on) return await checkOnCluster(options);
  reportProgress(given);
  using interrupt = new Interrupt();
  const { rows, own } = await checkCases(options, {
    settings: settingsOf(options, { checkOnly: true }),
    timeout: options.timeout,
    signal: interrupt.signal,
    observer: {
      note: logLine,
      row(row) {
        if (options.json) printLine(jsonRow(row));
      },
      progress(total) {
        const progress = new Progress("check", total);
        const failures = new Failures();
        const fail = (row: Row) =>
          progress.print(failures.lineOf(recordOf(row)));
        return Object.assign(progress, { fail });
      },
    },
  });
  if (interrupt.signal.aborted) {
    throw new UserError("Stopped before all was checked", EXIT.failed);
  }
  showRows(rows.map(recordOf), options);
  if (rows.length === 0 && given.progress !== undefined) return EXIT.ok;
  const idle = await notRun(own, rows, given);
  if (idle !== undefined) logLine(idle);
  const code = exitCodeOf(rows);
  return code === EXIT.ok && idle !== undefined ? EXIT.nothing : code;
}

/** Checks shards on a cluster. @returns The exit code. */
async function checkOnCluster(options: CheckOptions): Promise<number> {
  // Unknown names are refused before anything waits in a queue.
  await casesAnywhere({ ...options, unnamed: suiteNames });
  using ended = await runShards({
    name: "check",
    options,
    without: { "--json": false },
    added: ["--json"],
  });
  if (ended === undefined) return EXIT.ok;
  const rows = ended.lines.map((line) => csvRow(rowIn(line)));
  const failures = new Failures();
  for (const row of rows) {
    if (options.json) printLine(shownJson(flatRow(row)));
    else if (isFailure(row)) logLine(failures.lineOf(row));
  }
  showRows(rows, options);
  ended.remove();
  if (rows.some(isFailure)) return EXIT.failed;
  return ended.codes.every((code) => code === EXIT.nothing)
    ? EXIT.nothing
    : EXIT.ok;
}

/**
 * Writes the line of each failed row. A kernel that does not compile fails with one error at every
 * shape: it is there once, and later lines name the shape that has it.
 */
class Failures {
  readonly #shapes = new Map<string, string>();

  lineOf(row: CsvRow): string {
    const { suite, kernel, backend, status, note } = row;
    const error = JSON.stringify([suite, kernel, backend, status, note]);
    const shape = titleOf({ ...row, suite: "", kernel: "" });
    const first = this.#shapes.get(error);
    if (first === undefined) this.#shapes.set(error, shape);
    const why = first === undefined || note === "" ? note : `as at ${first}`;
    return `FAIL ${titleOf(row)}: ${status}${why === "" ? "" : `, ${why}`}`;
  }
}

/** Reads a line that a shard printed. @throws {UserError} */
function rowIn(line: string): FlatRow {
  return parseJson(
    flatRowSchema,
    line,
    (why) =>
      new UserError(
        `Cannot read what a shard printed: ${why}; remove its .exit file, then give the command again`,
      ),
  );
}

/** Sums up `rows`, with the notes of those that did not run, or were right only when repeated. */
function showRows(
  rows: readonly CsvRow[],
  { json }: Pick<CheckOptions, "json">,
): void {
  const count = (of: (row: CsvRow) => boolean) => rows.filter(of).length;
  const right = count(({ status }) => status === "checked");
  const unsupported = count(({ status }) => status === "unsupported");
  const line = `${counted(rows.length, "case")}: ${right} right, ${
    count(isFailure)
  } failed, ${unsupported} unsupported`;
  if (json) return logLine(line);
  const reasons = formatNotes(
    rows.filter((row) =>
      row.note !== "" &&
      (row.status === "unsupported" || row.note.endsWith(RIGHT_ALONE))
    )
      .map(({ kernel, m, n, k, params, status, note }) => ({
        kernel,
        note,
        label: `${m}×${n}×${k} ${params}`,
        status: status === "checked" ? "ok" : status,
      })),
    "--json has all",
  );
  for (const reason of reasons) logLine(`  ${reason}`);
  printLine(line);
}
