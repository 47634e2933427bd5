/**
 * Options of `bench` that cannot all be honoured: refused, not ignored.
 *
 * @module
 */

import { UserError } from "../../../bench/model/errors.ts";
import { PEERS_BACKEND } from "../../../bench/model/peer.ts";
import { ofProgram } from "../../../session/home.ts";
import type { BenchOptions } from "../../../session/options.ts";
import { timesNothing } from "../../options/readers.ts";

/** Where results go unless told otherwise. */
export const OUT = "results";

/** @throws {UserError} For options of which one makes another one meaningless. */
export function refuseClashes(options: BenchOptions): void {
  const { resume, fresh, once, dryRun, json, peers, backend, device } = options;
  if (typeof device === "string" && !once && !dryRun) {
    throw new UserError(`Cannot bench: ${timesNothing(device)}`);
  }
  if (resume && fresh) {
    throw new UserError(
      "Cannot both resume a run and start afresh: leave out --resume or --fresh",
    );
  }
  if (dryRun && json) {
    throw new UserError(
      "Cannot print rows of a dry run: leave out --json, or print the cases as JSON with `mnkbench list --cases --json`",
    );
  }
  if (peers === undefined && options.python !== undefined) {
    throw new UserError(
      "--python is of the peers: add --peers torch, or leave out --python",
    );
  }
  if (peers !== undefined && (backend ?? PEERS_BACKEND) !== PEERS_BACKEND) {
    throw new UserError(
      `Cannot measure --peers ${peers} with --backend ${backend}: they run on ${PEERS_BACKEND} only; leave out one of the two`,
    );
  }
  const meaningless = [
    ...(json ? ["--json"] : []),
    ...(options.runs !== 1 ? ["--runs"] : []),
    ...(options.out !== ofProgram(OUT) ? ["--out"] : []),
    ...(resume ? ["--resume"] : []),
    ...(fresh ? ["--fresh"] : []),
  ];
  if (once && meaningless.length > 0) {
    throw new UserError(
      `--once times and keeps nothing: leave out ${meaningless.join(", ")}`,
    );
  }
}
