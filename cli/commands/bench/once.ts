/**
 * `bench --once`: one case, once, in this process, for a profiler or a sanitizer.
 *
 * @module
 */

import type { Settings } from "../../../bench/model/settings.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import type { Event } from "../../../bench/worker/protocol.ts";
import { isPeerCase } from "../../../bench/model/peer.ts";
import {
  failureLine,
  isFailure,
  jobOf,
  titleOf,
} from "../../../session/run_job.ts";
import type { Selected } from "../../../session/selection.ts";
import { say, tell } from "../../terminal/output.ts";
import { work } from "../../../session/worker.ts";

/** Runs the only case of `selected`. @returns The exit code. */
export async function once(
  selected: Selected,
  settings: Settings,
): Promise<number> {
  const { cases, selection } = selected;
  if (cases.length !== 1) {
    throw new UserError(
      `Cannot run ${cases.length} cases with --once: narrow it to one with --suite, --kernel, --axis and --where; --dry-run says which cases there are`,
    );
  }
  if (isPeerCase(cases[0]!)) {
    throw new UserError(
      `Cannot run ${
        cases[0]!.kernel
      } with --once: Python runs it, in a process of its own; leave out --once`,
    );
  }
  if (selection.peers !== undefined) {
    throw new UserError(
      `--once runs ${cases[0]!.kernel} alone: leave out --peers`,
    );
  }
  let code: number = EXIT.failed;
  const take = (event: Event) => {
    if (event.event !== "row") return;
    const { row } = event;
    if (isFailure(row)) return tell(failureLine(row));
    code = EXIT.ok;
    say(`${titleOf(row.key)}: ${row.note || row.status}`);
  };
  await work(jobOf({ ...selected, settings, run: "once" }), take);
  return code;
}
