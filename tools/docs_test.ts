import { assert, assertEquals } from "@std/assert";
import { dirname, join, normalize } from "node:path";
import { kernels as matmulKernels } from "../kernels/matmul/mod.ts";

Deno.test("tables in the README are those that their commands print now", async () => {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "cli/main.ts",
      "report",
      "--splice",
      "README.md",
      "--check",
    ],
    cwd: new URL("../", import.meta.url),
    env: { INIT_CWD: "" },
  }).output();
  assert(success, new TextDecoder().decode(stderr));
});

/** The words of the file `path`, as `wc -w` counts them. */
function wordsOf(path: string): number {
  const text = Deno.readTextFileSync(new URL(path, import.meta.url));
  return text.split(/\s+/).filter((word) => word !== "").length;
}

Deno.test("the README has at most 900 words, with the guide at most 12,000", () => {
  const guide = "../docs/guide/";
  const pages = [...Deno.readDirSync(new URL(guide, import.meta.url))];
  assert(pages.length > 10);
  const readme = wordsOf("../README.md");
  assert(readme <= 900, `${readme}`);
  const all = pages.reduce((n, { name }) => n + wordsOf(guide + name), readme);
  assert(all <= 12_000, `${all}: move history and derivations to docs/notes/`);
});

const ROOT = new URL("../", import.meta.url).pathname;
const SKIPPED = /^(\.\w+|node_modules|results|plots)$/;

function* documents(kinds = /\.md$/, folder = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(join(ROOT, folder))) {
    const path = join(folder, name);
    if (isDirectory && !SKIPPED.test(name)) yield* documents(kinds, path);
    else if (kinds.test(name)) yield path;
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

function isThere(path: string): boolean {
  try {
    return Boolean(Deno.statSync(join(ROOT, path)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("every note that a source file names is there", () => {
  const sources = [...documents(/\.(ts|cuh?|hip|metal|c|h|cpp|py)$/)];
  const named = sources.flatMap((path) =>
    [
      ...Deno.readTextFileSync(join(ROOT, path))
        .matchAll(/docs\/notes\/[\w/-]+\.md/g),
    ].map(([note]) => ({ path, note }))
  );
  assert(named.length > 10);
  assertEquals(named.filter(({ note }) => !isThere(note)), []);
});

Deno.test("every file of this repository that the docs name is there", () => {
  // The changelog and dated notes name files of earlier versions.
  const paths = [...documents()].filter((path) =>
    path !== "CHANGELOG.md" && !path.startsWith("docs/notes/")
  );
  const missing = paths.flatMap((path) =>
    [...Deno.readTextFileSync(join(ROOT, path)).matchAll(NAMED)]
      .map(([, file]) => file!)
      .filter((file) => !isThere(file)).map((file) => `${path}: ${file}`)
  );
  assertEquals(missing, []);
});

Deno.test("kernels/matmul/README.md names the source of each kernel", () => {
  const folder = new URL("../kernels/matmul/", import.meta.url);
  const page = Deno.readTextFileSync(new URL("README.md", folder));
  const [, section = ""] = /^## Sources\n([^]*?)^## /m.exec(page) ?? [];
  const words = [...section.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
  const paths = words.filter((word) => word.includes(".")).flatMap((path) => {
    const [, start, names, end] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
    return names?.split(",").map((name) => `${start}${name}${end}`) ?? [path];
  });
  assert(paths.length > 10, `${paths}`);
  for (const path of paths) Deno.statSync(new URL(path, folder));
  const own = matmulKernels.filter(({ name }) => !isLibrary(name))
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("decompose-k-"));
  assertEquals(own.filter((name) => !words.includes(name)), []);
});

/** Whether a kernel of matmul is a call of a vendor's library. */
function isLibrary(name: string): boolean {
  return /blas|^mps$/.test(name);
}
