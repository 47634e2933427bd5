import { assert, assertEquals } from "@std/assert";
import { dirname, join, normalize } from "node:path";

const ROOT = new URL("../", import.meta.url).pathname;
const SKIPPED = /^(\.\w+|node_modules|results|plots)$/;

function* documents(folder = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(join(ROOT, folder))) {
    const path = join(folder, name);
    if (isDirectory && !SKIPPED.test(name)) yield* documents(path);
    else if (name.endsWith(".md")) yield path;
  }
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  return new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading!.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-")
    ),
  );
}

/** The relative links of `text` that lead nowhere. */
function deadLinks(path: string): string[] {
  const text = Deno.readTextFileSync(join(ROOT, path));
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [file, anchor] = link.split("#");
      const target = file ? normalize(join(dirname(path), file)) : path;
      try {
        if (!anchor) return !Deno.statSync(join(ROOT, target));
        const there = Deno.readTextFileSync(join(ROOT, target));
        return !anchorsOf(there).has(anchor);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return true;
        throw error;
      }
    });
}

Deno.test("every relative link of the docs leads to a file and a heading", () => {
  const paths = [...documents()];
  assert(paths.includes("README.md") && paths.length > 20);
  const dead = paths.flatMap((path) =>
    deadLinks(path).map((link) => `${path}: ${link}`)
  );
  assertEquals(dead, []);
});

/** Paths in backquotes that start with a folder of this repository and name a file. */
const NAMED =
  /`((?:backends|bench|cli|docs|emulator|examples|kernels|peers|report|session|suites|tools)\/[\w/.-]+\.(?:ts|cu|cuh|hip|metal|c|h|cpp|py|md))`/g;

Deno.test("every file of this repository that the docs name is there", () => {
  // The changelog and dated notes name files of earlier versions.
  const paths = [...documents()].filter((path) =>
    path !== "CHANGELOG.md" && !path.startsWith("docs/notes/")
  );
  const missing = paths.flatMap((path) =>
    [...Deno.readTextFileSync(join(ROOT, path)).matchAll(NAMED)]
      .map(([, file]) => file!)
      .filter((file) => {
        try {
          return !Deno.statSync(join(ROOT, file));
        } catch (error) {
          if (error instanceof Deno.errors.NotFound) return true;
          throw error;
        }
      }).map((file) => `${path}: ${file}`)
  );
  assertEquals(missing, []);
});
