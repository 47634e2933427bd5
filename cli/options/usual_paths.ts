/**
 * The folders whose rows a command reads where none is named.
 *
 * @module
 */

import { join } from "node:path";
import { readable, unlessMissing } from "../../bench/files/disk.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { LATEST, RESULTS, typed } from "../../session/home.ts";
import { logLine } from "../terminal/output.ts";

/** The default of commands that read rows, for their help. */
export const USUAL = `${LATEST} where it is there, else ${RESULTS}`;

/**
 * Returns `paths`, or where there are none the folder of the rows that were measured last; that of
 * recorded results where nothing was measured. It says which.
 *
 * @throws {UserError} Where none is named and neither folder is there.
 */
export function usualPaths(paths: readonly string[]): readonly string[] {
  if (paths.length > 0) return paths;
  const folder = hasRows(LATEST) ? LATEST : RESULTS;
  if (folder === RESULTS && !isThere(RESULTS)) {
    throw new UserError(
      `No rows are here yet, neither in ${LATEST} nor in ${RESULTS}: measure some with \`${
        typed("bench")
      }\`, or name a PATH`,
      EXIT.nothing,
    );
  }
  logLine(`Rows of ${folder}`);
  return [folder];
}

/**
 * Returns `paths`, or where there are none the folder of recorded results.
 *
 * @throws {UserError} Where none is named and nothing is recorded.
 */
export function recordedPaths(paths: readonly string[]): readonly string[] {
  if (paths.length > 0) return paths;
  if (isThere(RESULTS)) return [RESULTS];
  throw new UserError(
    `No rows are recorded here yet: there is no folder ${RESULTS}; measure and record some with \`${
      typed("bench --record")
    }\`, or name a PATH`,
    EXIT.nothing,
  );
}

function isThere(path: string): boolean {
  return readable(path, () => unlessMissing(() => Deno.statSync(path))) !==
    undefined;
}

/** Both sides of a comparison. */
export interface Sides {
  readonly base: string;
  readonly next: string;
  /** Whether none was named: of the recorded rows only the cases that were measured count. */
  readonly measured: boolean;
}

/**
 * Returns the sides that `paths` name for `command`; where there are none, the recorded rows and
 * those that were measured last, and tells so.
 *
 * @throws {UserError} For one path, and where nothing was measured or nothing is recorded.
 */
export function sidesOf(
  command: "diff" | "compare",
  [base, next]: readonly (string | undefined)[],
): Sides {
  if (base !== undefined && next !== undefined) {
    return { base, next, measured: false };
  }
  if (base !== undefined) {
    throw new UserError(
      `Cannot compare ${base} alone: give the rows after too, ${command} BASE NEW, or neither for ${RESULTS} and ${LATEST}`,
    );
  }
  const sides = { base: RESULTS, next: LATEST };
  if (!hasRows(sides.next)) {
    throw new UserError(
      `Cannot compare: no row is in ${sides.next}; measure some with \`bench\`, or name both sides, ${command} BASE NEW`,
      EXIT.nothing,
    );
  }
  if (!isThere(sides.base)) {
    throw new UserError(
      `Cannot compare the rows of ${sides.next}: there is no folder ${sides.base} of recorded ones; record some with \`${
        typed("bench --record")
      }\`, or name both sides, ${command} BASE NEW`,
      EXIT.nothing,
    );
  }
  logLine(`Rows of ${sides.next} against those of ${sides.base}`);
  return { ...sides, measured: true };
}

/**
 * Returns whether a folder of a device in `folder` has a CSV: a run that was stopped leaves none.
 *
 * @throws {UserError} Where it is no folder, or cannot be read.
 */
export function hasRows(folder: string): boolean {
  const names = (path: string) =>
    readable(path, () => unlessMissing(() => [...Deno.readDirSync(path)])) ??
      [];
  return names(folder).some(({ name, isDirectory }) =>
    isDirectory &&
    names(join(folder, name)).some((file) => file.name.endsWith(".csv"))
  );
}
