/**
 * Files that many processes need and one of them makes.
 *
 * @module
 */

import { dirname } from "node:path";
import { lockFile } from "../../bench/files/lock.ts";

/**
 * Returns `path` once the file is there. Where it is missing, one process or thread makes it
 * while the others wait, and it appears whole or not at all.
 *
 * @param make Writes the file to the path that it is given. What it throws is passed on.
 */
export function buildOnce(path: string, make: (to: string) => void): string {
  if (exists(path)) return path;
  using _lock = lockFile(path);
  if (exists(path)) return path;
  const temporary = Deno.makeTempDirSync({
    dir: dirname(path),
    prefix: ".making-",
  });
  try {
    make(`${temporary}/made`);
    Deno.renameSync(`${temporary}/made`, path);
  } finally {
    Deno.removeSync(temporary, { recursive: true });
  }
  return path;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
