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
import type { Row } from "../../bench/row/row.ts";
import { formatNotes } from "../../report/table/notes.ts";
import { Interrupt, jsonRow, Progress, say, tell } from "../terminal/output.ts";
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
    sourceFlags(),
    choiceFlags(words, "all"),
    targetFlags(words, true),
    tuningFlags(),
    runningFlags(),
    object("Python", { python: python() }),
    object("Results", {
      shard: shard(),
      json: toggle("--json", "Print rows as lines of JSON."),
    }),
  );
}

type CheckOptions = InferValue<ReturnType<typeof flags>>;

/** Checks, and keeps nothing. @returns The exit code. */
async function check(given: CheckOptions): Promise<number> {
  const options = await withFile(given);
  using interrupt = new Interrupt();
  const { rows, own } = await checkCases(options, {
    settings: settingsOf(options, { checkOnly: true }),
    ...{ timeout: options.timeout, signal: interrupt.signal },
    observer: {
      note: tell,
      row(row) {
        if (options.json) say(jsonRow(row));
      },
      progress: (total) => new Progress("check", total),
    },
  });
  if (interrupt.signal.aborted) {
    throw new UserError("Stopped before all was checked", EXIT.failed);
  }
  const count = (of: (row: Row) => boolean) => rows.filter(of).length;
  const right = count(({ status }) => status === "checked");
  const unsupported = count(({ status }) => status === "unsupported");
  const line = `${counted(rows.length, "case")}: ${right} right, ${
    count(isFailure)
  } failed, ${unsupported} unsupported`;
  if (options.json) tell(line);
  else {
    const reasons = formatNotes(
      rows.filter(({ status, note }) => status === "unsupported" && note !== "")
        .map(({ key: { kernel, m, n, k, params }, status, note }) => ({
          ...{ kernel, status, note, label: `${m}×${n}×${k} ${params}` },
        })),
      "--json has all",
    );
    for (const reason of reasons) tell(`  ${reason}`);
    say(line);
  }
  const idle = await notRun(own, rows, given);
  if (idle !== undefined) tell(idle);
  const code = exitCodeOf(rows);
  return code === EXIT.ok && idle !== undefined ? EXIT.nothing : code;
}
