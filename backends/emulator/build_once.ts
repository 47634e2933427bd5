/**
 * Files that many processes need and one of them makes.
 *
 * @module
 */

import { dirname } from "node:path";

/**
 * Returns `path` once the file is there. Where it is missing, one process or thread makes it
 * while the others wait, and it appears whole or not at all.
 *
 * @param make Writes the file to the path that it is given. What it throws is passed on.
 */
export function buildOnce(path: string, make: (to: string) => void): string {
  if (exists(path)) return path;
  const folder = dirname(path);
  Deno.mkdirSync(folder, { recursive: true });
  using lock = Deno.openSync(`${path}.lock`, { create: true, write: true });
  // The system unlocks it when the process ends, however that comes about.
  lock.lockSync(true);
  if (exists(path)) return path;
  const temporary = Deno.makeTempDirSync({ dir: folder, prefix: ".making-" });
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
