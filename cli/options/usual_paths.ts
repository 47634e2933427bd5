/**
 * The folder whose rows a command reads where none is named.
 *
 * @module
 */

import { join } from "node:path";
import { unlessMissing } from "../../bench/files/disk.ts";
import { LATEST, ofProgram, RESULTS } from "../../session/home.ts";
import { tell } from "../terminal/output.ts";

/** The default of commands that read rows, for their help. */
export const USUAL = `${LATEST} where it is there, else ${RESULTS}`;

/**
 * Returns `paths`, or where there are none the folder of the rows that were measured last; that of
 * recorded results where nothing was measured. It says which.
 */
export function usualPaths(paths: readonly string[]): readonly string[] {
  if (paths.length > 0) return paths;
  const latest = ofProgram(LATEST);
  const folder = hasRows(latest) ? latest : ofProgram(RESULTS);
  tell(`Rows of ${folder}`);
  return [folder];
}

/** Returns whether a folder of a device in `folder` has a CSV: a run that was stopped leaves none. */
export function hasRows(folder: string): boolean {
  const names = (path: string) =>
    unlessMissing(() => [...Deno.readDirSync(path)]) ?? [];
  return names(folder).some(({ name, isDirectory }) =>
    isDirectory &&
    names(join(folder, name)).some((file) => file.name.endsWith(".csv"))
  );
}
