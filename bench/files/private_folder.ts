/**
 * Folders of kernels and drivers, which are run: nobody but their user may write to them.
 *
 * @module
 */

import { UserError } from "../model/errors.ts";
import { unlessMissing } from "./disk.ts";

/** Permission to write, of the group and of everybody. */
const OTHERS_WRITE = 0o022;

/**
 * Makes the folder at `path` where it is missing, with those above it, for this user alone.
 *
 * @throws {UserError} If there is one that others may write to.
 */
export function privateFolder(path: string): void {
  Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  demandPrivate(path);
}

/**
 * Checks that the folder at `path`, where there is one, belongs to this user or to root, and
 * that its mode lets nobody else write to it. Windows has no such modes.
 *
 * @throws {UserError} If others may write to it.
 */
export function demandPrivate(path: string): void {
  const { uid, mode } = unlessMissing(() => Deno.statSync(path)) ?? {};
  const user = Deno.uid();
  if (user === null || typeof uid !== "number" || typeof mode !== "number") {
    return;
  }
  const elsewhere = "name another folder with --kernel-cache DIR";
  if (uid !== user && uid !== 0) {
    throw new UserError(
      `Cannot run what is in ${path}: it belongs to user ${uid}, and this is user ${user}; ${elsewhere}`,
    );
  }
  if ((mode & OTHERS_WRITE) === 0) return;
  const octal = (mode & 0o777).toString(8).padStart(4, "0");
  throw new UserError(
    `Cannot run what is in ${path}: other users may write to it (mode ${octal}); if all of it is yours, run \`chmod 700 ${path}\`, or ${elsewhere}`,
  );
}
