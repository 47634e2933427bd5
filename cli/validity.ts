/**
 * Whether a row of an unfinished run still says what the same case would give now.
 *
 * @module
 */

import { BinaryCache } from "../bench/cache.ts";
import type { Settings } from "../bench/config.ts";
import { CaseError } from "../bench/errors.ts";
import { parseValues } from "../bench/grid.ts";
import { joinHashes } from "../bench/passport.ts";
import { keyOf, keyText, type Row } from "../bench/row.ts";
import type { Selected } from "./selection.ts";

/**
 * A test of rows: the case is still selected, and its sources are those that were
 * measured and can still be read. A failure that names no sources is tried again, as it
 * may have been mended.
 */
export function validity(
  { cases, backend, info }: Selected,
  { cacheDir }: Settings,
): (row: Row) => boolean {
  const byKey = new Map(cases.map((c) => [keyText(keyOf(c)), c]));
  const cache = new BinaryCache(cacheDir);
  return ({ key, status, config, passport }) => {
    const one = byKey.get(keyText(key));
    if (one === undefined) return false;
    if (status === "unsupported") return one.unsupported(info) !== undefined;
    try {
      const hashes = one.builds(parseValues(config))
        .map((build) => cache.sourceHash(build, backend, info.arch));
      return joinHashes(hashes) === (passport.source_hash ?? "");
    } catch (error) {
      // A source that is gone: running the case says so in its row.
      if (error instanceof CaseError) return false;
      throw error;
    }
  };
}
