/**
 * Reads which versions of a kernel's code compile to the same machine code: what was measured of
 * the one holds for the other. `tools/same_code.ts` compiles them and writes the file.
 *
 * @module
 */

import { join } from "node:path";
import { array, type InferOutput, object, string } from "valibot";
import { readIfThere } from "../../bench/files/disk.ts";
import { parseJson } from "../../bench/files/json_file.ts";
import { UserError } from "../../bench/model/errors.ts";
import { RESULTS } from "../home.ts";

/** The file, beside the recorded rows. */
export const SAME_CODE: string = join(RESULTS, "same_code.json");

const schema = object({
  same: array(object({
    was: string(),
    is: string(),
    binary: string(),
    compiler: string(),
  })),
});

/**
 * Two versions of a kernel's code. `was` and `is` are values of `code_hash`, `binary` is the hash of
 * the machine code that `compiler` makes of both.
 */
export type SamePair = InferOutput<typeof schema>["same"][number];

/** Returns the text that tells a pair from others. */
export function keyOfPair({ was, is }: Pick<SamePair, "was" | "is">): string {
  return `${was} ${is}`;
}

/** Versions of code with the same machine code. */
export class SameCode {
  readonly #known: ReadonlySet<string>;

  constructor(pairs: readonly SamePair[]) {
    this.#known = new Set(pairs.map(keyOfPair));
  }

  /** Returns whether code of hash `was` and of hash `is` has the same machine code. */
  has(was: string, is: string): boolean {
    return this.#known.has(keyOfPair({ was, is }));
  }
}

/**
 * Reads {@linkcode SAME_CODE}; no pairs where it is not there.
 *
 * @throws {UserError} If it is damaged.
 */
export function readSameCode(path: string = SAME_CODE): readonly SamePair[] {
  const text = readIfThere(path);
  if (text === undefined) return [];
  return parseJson(
    schema,
    text,
    (why) =>
      new UserError(
        `Cannot read ${path}: ${why}; restore it, or make it again with \`deno task same-code\``,
      ),
  ).same;
}
