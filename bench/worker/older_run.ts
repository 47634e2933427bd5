/**
 * Finds the unfinished run of the same cases by another version of this program.
 *
 * @module
 */

import { readIfThere } from "../files/disk.ts";
import { UserError } from "../model/errors.ts";
import { fingerprint, type RunIdentity } from "./fingerprint.ts";
import { parseRunInfo, type RunInfo } from "./run_info.ts";

/** An unfinished run, and where it is. */
export interface OlderRun {
  readonly folder: string;
  readonly info: RunInfo;
}

/**
 * The unfinished run below `root` that differs from `identity` in its version alone; nothing
 * where there is none. A folder that describes no run is none.
 */
export function olderRun(
  root: string,
  identity: RunIdentity,
): OlderRun | undefined {
  for (const { name, isDirectory } of entriesOf(root)) {
    const folder = `${root}/${name}`;
    const file = `${folder}/run.json`;
    const text = isDirectory ? readIfThere(file) : undefined;
    const info = text === undefined ? undefined : readableRun(text, file);
    if (info === undefined || info.harness === identity.harness) continue;
    const { harness } = info;
    if (fingerprint({ ...identity, harness }) === name) return { folder, info };
  }
  return undefined;
}

/** A damaged run is for the command that goes on with it to refuse, and no reason here. */
function readableRun(text: string, file: string): RunInfo | undefined {
  try {
    return parseRunInfo(text, file);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function entriesOf(root: string): readonly Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(root)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
