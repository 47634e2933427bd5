/**
 * The programs that run cases: each measures in its own way and says the same events.
 *
 * @module
 */

import type { Backend, DeviceInfo } from "../device/device.ts";
import type { ExitCode } from "../model/errors.ts";
import type { Case } from "../model/suite.ts";
import type { Emit, Job } from "./protocol.ts";

/** The cases that a runner runs, and where. */
export interface Assigned {
  readonly backend: Backend;
  readonly info: DeviceInfo;
  readonly cases: readonly Case[];
  /** The version of this program, for the rows. */
  readonly harness: string;
}

/** Runs the cases of `job`, and says what happens by `emit`. @returns The exit code. */
export type Runner = (
  job: Job,
  assigned: Assigned,
  emit: Emit,
) => Promise<ExitCode>;
