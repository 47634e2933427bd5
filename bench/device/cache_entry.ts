/**
 * Entries of the kernel cache: a folder with a binary and its manifest.
 *
 * @module
 */

import { CaseError } from "../model/errors.ts";
import { removeIfThere, saidBy, unlessMissing } from "../files/disk.ts";
import { hashOf } from "../files/hash.ts";
import { isSealedOrOld, parseJson, UNSEALED } from "../files/json_file.ts";
import { join } from "node:path";
import {
  array,
  check,
  exactOptional,
  type InferOutput,
  number,
  pipe,
  readonly,
  record,
  strictObject,
  string,
  union,
} from "valibot";

const manifestSchema = pipe(
  strictObject({
    source: string(),
    defines: record(string(), union([string(), number()])),
    arch: string(),
    flags: pipe(array(string()), readonly()),
    compiler: string(),
    binaryHash: string(),
    /** Missing in entries of version 0.1. */
    sum: exactOptional(string()),
  }),
  check((manifest) => isSealedOrOld(manifest), UNSEALED),
);

/** The contents of `manifest.json` beside a binary. */
export type Manifest = Readonly<InferOutput<typeof manifestSchema>>;

/** What an entry has. */
export interface Entry extends Pick<Manifest, "binaryHash" | "compiler"> {
  /** The path of the binary. */
  readonly path: string;
}

/** Why an entry is corrupt whose binary was changed. */
export const OTHER = "its binary is not the one its manifest describes";

/** Makes the error for the entry at `entry`. */
export function corrupt(entry: string, why: string): CaseError {
  return new CaseError(
    "compile",
    `Cannot use the cached kernel in ${entry}: ${why}; remove it with \`rm -r ${entry}\``,
  );
}

/**
 * The entry at `entry`, or nothing where there is none or a folder without a manifest.
 *
 * @throws {CaseError} `compile`, if it is corrupt or cannot be read.
 */
export async function readEntry(
  entry: string,
  binary: string,
): Promise<Entry | undefined> {
  let text: string;
  try {
    text = await Deno.readTextFile(join(entry, "manifest.json"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    // The folder's matter, not this entry's.
    if (error instanceof Deno.errors.PermissionDenied) throw error;
    throw corrupt(entry, errorText(error));
  }
  const { binaryHash, compiler } = parseJson(
    manifestSchema,
    text,
    (why) => corrupt(entry, `of its manifest, ${why}`),
  );
  const bytes = await Deno.readFile(binary).catch((error) => {
    throw corrupt(entry, errorText(error));
  });
  if (hashOf(bytes) !== binaryHash) {
    throw corrupt(entry, OTHER);
  }
  return { path: binary, binaryHash, compiler };
}

/**
 * Renames `from` to `to`; where another process was first, its entry stays. A folder
 * without a manifest is no entry, and is replaced.
 */
export async function moveInto(from: string, to: string): Promise<void> {
  try {
    return await Deno.rename(from, to);
  } catch (error) {
    if (!unlessMissing(() => Deno.lstatSync(to))?.isDirectory) throw error;
    if (unlessMissing(() => Deno.lstatSync(join(to, "manifest.json")))) return;
  }
  removeIfThere(to);
  await Deno.rename(from, to);
}

/** Returns the message of `error`, on one line. */
export function errorText(error: unknown): string {
  return saidBy(error).split("\n")[0]!;
}
