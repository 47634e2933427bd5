/**
 * Binaries of earlier builds in the kernel cache, found by the hash that a row has.
 *
 * @module
 */

import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BinaryCache } from "../../bench/device/binary_cache.ts";
import type { Backend, Build } from "../../bench/device/device.ts";
import { manifestIn } from "../../bench/device/cache_entry.ts";
import { readable, unlessMissing } from "../../bench/files/disk.ts";
import { joinHashes } from "../../bench/measure/case_run.ts";

/** An entry of the cache. */
interface Entry {
  readonly folder: string;
  readonly binaryHash: string;
}

/** Combinations of entries that are tried for one row. */
const MOST = 100_000;

/** The entries of a kernel cache, as they were when it was made. */
export class OldBinaries {
  readonly #entries: ReadonlyMap<string, readonly Entry[]>;
  readonly #cache: BinaryCache;

  /** @param cache Hashes the sources of now. */
  constructor(cache: BinaryCache) {
    this.#cache = cache;
    this.#entries = Map.groupBy(entriesIn(cache.dir), ({ unit }) => unit);
  }

  /**
   * The entries whose binaries have `hash` together, one for each of `builds`, by the
   * hashes of the sources of now; nothing where the cache has no such binaries.
   */
  find(
    builds: readonly Build[],
    { hash, backend, arch }: {
      readonly hash: string;
      readonly backend: Backend;
      readonly arch: string;
    },
  ): Readonly<Record<string, string>> | undefined {
    const lists = builds.map(({ source, defines }) => {
      const unit = unitText(basename(fileURLToPath(source)), defines, arch);
      return this.#entries.get(unit) ?? [];
    });
    const found = combination(lists, hash);
    return found && Object.fromEntries(builds.map((build, i) => [
      this.#cache.sourceHash(build, backend, arch),
      found[i]!.folder,
    ]));
  }
}

/** One of each of `lists`, so that their hashes joined are `hash`. */
function combination(
  lists: readonly (readonly Entry[])[],
  hash: string,
): readonly Entry[] | undefined {
  const all = lists.reduce((product, { length }) => product * length, 1);
  for (let number = 0; number < Math.min(all, MOST); number++) {
    let rest = number;
    const chosen = lists.map((list) => {
      const entry = list[rest % list.length]!;
      rest = Math.floor(rest / list.length);
      return entry;
    });
    if (joinHashes(chosen.map((e) => e.binaryHash)) === hash) return chosen;
  }
}

/** A translation unit, whatever its text is. */
function unitText(source: string, defines: object, arch: string): string {
  return JSON.stringify([source, arch, Object.entries(defines).toSorted()]);
}

function entriesIn(dir: string): (Entry & { readonly unit: string })[] {
  const names =
    readable(dir, () => unlessMissing(() => [...Deno.readDirSync(dir)])) ?? [];
  return names.flatMap(({ name, isDirectory }) => {
    if (!isDirectory || name.startsWith(".")) return [];
    const folder = join(dir, name);
    const manifest = manifestIn(folder);
    if (manifest === undefined) return [];
    const { source, defines, arch, binaryHash } = manifest;
    return [{ folder, binaryHash, unit: unitText(source, defines, arch) }];
  });
}
