/**
 * Folders with all that is in them.
 *
 * @module
 */

import { join } from "node:path";

/** Copies a file or a folder; what is not there is not copied. Links stay links. */
export async function copyTree(from: string, to: string): Promise<void> {
  const info = await Deno.lstat(from).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (info === undefined) return;
  if (info.isSymlink) return await Deno.symlink(await Deno.readLink(from), to);
  if (!info.isDirectory) return await Deno.copyFile(from, to);
  await Deno.mkdir(to, { recursive: true });
  for await (const { name } of Deno.readDir(from)) {
    await copyTree(join(from, name), join(to, name));
  }
}

/** Bytes of a file, or of all files of a folder. */
export async function sizeOf(path: string): Promise<number> {
  const info = await Deno.lstat(path);
  if (!info.isDirectory) return info.isSymlink ? 0 : info.size;
  let bytes = 0;
  for await (const { name } of Deno.readDir(path)) {
    bytes += await sizeOf(join(path, name));
  }
  return bytes;
}
