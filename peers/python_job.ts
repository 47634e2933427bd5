/**
 * What Python is told: the cases, how to time them, and what of the harness it uses.
 *
 * @module
 */

import type { Settings } from "../bench/model/settings.ts";
import type { DeviceInfo } from "../bench/device/device.ts";
import type { Case, Problem } from "../bench/model/suite.ts";
import { problemFields } from "./torch.ts";
import { peerOf, rangesBeside } from "./peer_cases.ts";
import type { PeerInputs } from "./inputs.ts";

/** The first line that the program reads; cases and problems are numbered by position. */
export function peersProgramJob(
  cases: readonly Case[],
  { all, problems, info, inputs, settings, cacheDir, instruments }: {
    /** Every selected case: a dynamic graph serves those that differ in M alone. */
    readonly all: readonly Case[];
    readonly problems: readonly Problem[];
    readonly info: DeviceInfo;
    readonly inputs: PeerInputs;
    readonly settings: Settings;
    readonly cacheDir: string;
    readonly instruments: string | undefined;
  },
): unknown {
  const { warmup, rep, cache, flush } = settings;
  return {
    cases: cases.map((c, id) => ({
      id,
      peer: c.kernel,
      problem: problems.indexOf(c.problem),
      group: peerOf(c)?.dynamic ? rangesBeside(c, all) : [],
    })),
    problems: problems.map((p, id) => ({ id, ...problemFields(p) })),
    ...{ warmup, rep, cache, flush },
    flush_bytes: info.flushBytes,
    units: info.units,
    device: info.index,
    device_name: info.name,
    instruments: instruments ?? null,
    cache_dir: cacheDir,
    scratch: inputs.folder,
  };
}
