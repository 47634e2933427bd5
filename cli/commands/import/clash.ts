/**
 * What would keep a baseline from being read: a case that is in two of its files.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { readCsvIfThere } from "../../../bench/row/csv.ts";
import { UserError } from "../../../bench/model/errors.ts";
import { identityOf } from "../../../report/diff/join.ts";
import { twice } from "../../../session/duplicates.ts";

/** A CSV that is to stand at `target`, and where it is until then. */
interface Draft {
  readonly target: string;
  readonly draft: string;
}

/**
 * Looks at the folders of `drafts` as they are to be.
 *
 * @throws {UserError} Where a case of a draft is in another file too, or a file beside it cannot be
 * read: nothing that reads the folder could.
 */
export function refuseClashes(drafts: readonly Draft[]): void {
  const targets = new Set(drafts.map(({ target }) => target));
  const folders = new Set([...targets].map(dirname));
  const beside = [...folders].flatMap(csvsOf)
    .filter((file) => !targets.has(file))
    .map((file) => ({ target: file, draft: file }));
  const rows = [...beside, ...drafts].flatMap(({ target, draft }) =>
    (readCsvIfThere(draft) ?? []).map((row) => ({ target, row }))
  );
  const found = twice(rows, ({ row }) => identityOf(row));
  if (found === undefined) return;
  const [{ target, row }, other] = found;
  throw new UserError(
    `Cannot record ${target}: ${row.kernel} at ${row.m}×${row.n}×${row.k} of ${row.suite} is in ${other.target} too, and no command reads a case twice; give a folder with one file for each suite, as \`bench --out\` makes it`,
  );
}

/** The CSVs of a folder; none where there is no folder yet. */
function csvsOf(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)]
      .filter(({ name, isFile }) => isFile && name.endsWith(".csv"))
      .map(({ name }) => join(folder, name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
