/**
 * The structure of the repository as its files show it: which module imports which, and how
 * many source files a folder has.
 *
 * @module
 */

import { dirname, join, normalize } from "node:path";

/** Extensions of source files of any language. */
const SOURCE = /\.(ts|c|h|cc|cpp|cu|cuh|hip|metal|py)$/;
/** Files that only tests use, which have no limit. */
const TEST = /_test\.ts$|(^|\/)(testdata|tests)\//;
const SKIPPED = /^(\.\w+|node_modules|results|plots)$/;
/** `import … from`, `export … from`, `import("…")` and `import "…"` of a relative path. */
const IMPORT =
  /(?:\bfrom|\bimport)\s*\(?\s*"(\.{1,2}\/[^"]+)"|new Worker\(\s*new URL\(\s*"(\.{1,2}\/[^"]+)"/g;

/** The source files below `root` that are no tests, by their paths below it. */
export function sourceFiles(root: URL): readonly string[] {
  const found: string[] = [];
  const visit = (folder: string) => {
    for (const entry of Deno.readDirSync(new URL(folder || ".", root))) {
      const path = `${folder}${entry.name}`;
      if (entry.isDirectory) {
        if (!SKIPPED.test(entry.name)) visit(`${path}/`);
      } else if (SOURCE.test(path) && !TEST.test(path)) found.push(path);
    }
  };
  visit("");
  return found.toSorted();
}

/** The modules that each of `files` imports, types too. */
export function importsOf(
  root: URL,
  files: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const known = new Set(files);
  return new Map(
    files.filter((file) => file.endsWith(".ts")).map((file) => {
      const text = withoutComments(Deno.readTextFileSync(new URL(file, root)));
      const found = [...text.matchAll(IMPORT)]
        .map(([, a, b]) => normalize(join(dirname(file), a ?? b!)))
        .filter((path) => known.has(path));
      return [file, [...new Set(found)]];
    }),
  );
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
}

/**
 * The circles of `graph`: sets of nodes of which each leads to every other. Tarjan's
 * strongly connected components, without single nodes.
 */
export function circles(
  graph: ReadonlyMap<string, readonly string[]>,
): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string) => {
    index.set(node, index.size);
    low.set(node, index.get(node)!);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) {
        low.set(node, Math.min(low.get(node)!, low.get(next)!));
      }
    }
    if (low.get(node) !== index.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1 || graph.get(node)?.includes(node)) {
      found.push(circle.toSorted());
    }
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found;
}
