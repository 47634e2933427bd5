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
import type { Suite } from "../../bench/model/suite.ts";
import { formatNotes } from "../../report/table/notes.ts";
import { suiteNames } from "../../suites/mod.ts";
import { Interrupt, jsonRow, Progress, say, tell } from "../terminal/output.ts";
import { settingsOf } from "../../session/options.ts";
import { notRun } from "../../session/own_kernels.ts";
import { select, type Selected } from "../../session/select.ts";
import { exitCodeOf, isFailure, jobOf, runJob } from "../../session/run_job.ts";
import { sourceFlags, withFile } from "../options/source.ts";
import { isFile, isSource } from "../../session/cases.ts";

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
  const own = await select({ ...options, unnamed: suiteNames, orNone: true });
  for (const note of own.notes) tell(note);
  const sized = Object.keys(options.overrides).length > 0;
  if (sized) {
    tell(
      "Only the given sizes; without --axis, --m, --n and --k edge-case shapes are checked too",
    );
  }
  // Its own points would take an emulator days.
  const brief = typeof options.device === "string" && !sized &&
    !options.quick &&
    !own.selection.suites.some((n) => isFile(n) && !isSource(n));
  if (brief) tell("Edge-case shapes only: --m, --n and --k give others");
  const passes = sized
    ? [own]
    : [...await edgeCasesOf(options, own), ...(brief ? [] : [own])];
  const settings = settingsOf(options, { checkOnly: true });
  const rows: Row[] = [];
  using interrupt = new Interrupt();
  {
    const total = passes.reduce((sum, { cases }) => sum + cases.length, 0);
    using progress = new Progress("check", total);
    const parts = passes.flatMap((pass) =>
      [...Map.groupBy(pass.cases, ({ runner }) => runner).values()]
        .map((cases) => ({ ...pass, cases }))
    );
    for (const part of parts) {
      if (interrupt.signal.aborted) break;
      await runJob(
        jobOf({ ...part, settings, run: "check" }),
        {
          progress,
          timeout: options.timeout,
          signal: interrupt.signal,
          done: rows.length,
          failed: rows.filter(isFailure).length,
          take(event) {
            if (event.event !== "row") return;
            rows.push(event.row);
            if (options.json) say(jsonRow(event.row));
          },
        },
      );
    }
  }
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
  const idle = await notRun(own, rows, options);
  if (idle !== undefined) tell(idle);
  const code = exitCodeOf(rows);
  return code === EXIT.ok && idle !== undefined ? EXIT.nothing : code;
}

/**
 * The edge-case shapes of each operation, with each kernel once, whatever suites share them; of a
 * user's suite, whose kernels may be made for its types alone, only the edge-case sizes.
 */
async function edgeCasesOf(
  options: CheckOptions,
  { suites, selection }: Selected,
): Promise<readonly Selected[]> {
  const seen = new Set<string>();
  const names = selection.suites.filter((name, i) =>
    !isFile(name) && adds(suites[i]!, seen)
  );
  const files = selection.suites.filter(isFile);
  const passes = [[names, "edge"], [files, "edge-own"]] as const;
  return await Promise.all(
    passes.filter(([list]) => list.length > 0)
      .map(([list, set]) =>
        select({ ...options, suites: list, orNone: true }, set)
      ),
  );
}

/** Adds the kernels of `suite` to `seen`. @returns Whether one of them was not there. */
function adds({ op, kernels }: Suite, seen: Set<string>): boolean {
  const fresh = kernels.map(({ name, backend }) => `${op} ${name} ${backend}`)
    .filter((kernel) => !seen.has(kernel));
  for (const kernel of fresh) seen.add(kernel);
  return fresh.length > 0;
}
