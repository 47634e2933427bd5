/**
 * The mutants in the sources of kernels, each a `MUTANT(name)` of `kernels/common/mutant.h`.
 *
 * @module
 */

/** Sources of kernels, and headers that they include. */
const SOURCE = /\.(cu|cuh|hip|metal|c|h)$/;
const ROOT = new URL("../", import.meta.url);
const SITE = /\bMUTANT\((\w+)\)/g;

function* sources(folder: URL): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, folder));
    else if (SOURCE.test(name) && name !== "mutant.h") {
      yield new URL(name, folder);
    }
  }
}

/** The names of all mutants in the sources of kernels, one for each site. */
export function sites(): string[] {
  return [...sources(ROOT)].flatMap((source) =>
    [...Deno.readTextFileSync(source).matchAll(SITE)].map(([, name]) => name!)
  );
}

const known = new Map<string, ReadonlySet<string>>();

/** The names of the mutants in `source` and in all that it includes. */
export function mutantsOf(source: URL): ReadonlySet<string> {
  const found = known.get(source.href);
  if (found) return found;
  const names = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: URL) => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    const text = Deno.readTextFileSync(file);
    for (const [, name] of text.matchAll(SITE)) names.add(name!);
    for (const [, path] of text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)) {
      visit(new URL(path!, file));
    }
  };
  visit(source);
  known.set(source.href, names);
  return names;
}
