import { assert, assertEquals } from "@std/assert";
import { dirname, join, normalize } from "node:path";

/** Extensions of source files of any language. */
const SOURCE = /\.(ts|c|h|cc|cpp|cu|cuh|hip|metal|py)$/;
/** Files that only tests use, which have no limit. */
const TEST = /_test\.ts$|(^|\/)(testdata|tests)\//;
const SKIPPED = /^(\.\w+|node_modules|results|plots)$/;
/** `import … from`, `export … from`, `import("…")` and `import "…"` of a relative path. */
const IMPORT =
  /(?:\bfrom|\bimport)\s*\(?\s*"(\.{1,2}\/[^"]+)"|new Worker\(\s*new URL\(\s*"(\.{1,2}\/[^"]+)"/g;

/** The source files below `root`, by their paths below it; tests only where these are `wanted`. */
function sourceFiles(root: URL, wanted = false): readonly string[] {
  const found: string[] = [];
  const visit = (folder: string) => {
    for (const entry of Deno.readDirSync(new URL(folder || ".", root))) {
      const path = `${folder}${entry.name}`;
      if (entry.isDirectory) {
        if (!SKIPPED.test(entry.name)) visit(`${path}/`);
      } else if (SOURCE.test(path) && (wanted || !TEST.test(path))) {
        found.push(path);
      }
    }
  };
  visit("");
  return found.toSorted();
}

/** The modules that each of `files` imports, types too. */
function importsOf(
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
function circles(
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

const ROOT = new URL("../", import.meta.url);
const MOST_FILES = 25;

const files = sourceFiles(ROOT);

/** The text of a module, without its comments. */
function textOf(file: string): string {
  return withoutComments(Deno.readTextFileSync(new URL(file, ROOT)));
}

Deno.test("circles() finds what leads back to itself, and nothing else", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", ["a"]],
    ["d", []],
    ["e", ["e"]],
  ]);
  assertEquals(circles(graph), [["a", "b", "c"], ["e"]]);
});

Deno.test("no module imports itself by way of others, neither values nor types", () => {
  const graph = importsOf(ROOT, files);
  // Modules are found, and so are their imports.
  assert(graph.get("cli/main.ts")!.includes("cli/command.ts"));
  assertEquals(circles(graph), []);
});

/** The folders that each folder may import; `root` is a file beside the folders. */
const ALL = "bench backends kernels peers report session suites root";
const MAY_IMPORT: Readonly<Record<string, string>> = {
  bench: "",
  backends: "bench",
  kernels: "bench",
  report: "bench",
  suites: "bench kernels",
  peers: "bench kernels",
  session: ALL,
  root: ALL,
  cli: ALL,
  tools: ALL,
  // As a program elsewhere does, they import `mnkbench` alone.
  examples: "root",
};

/** The folder that `path` belongs to. */
function layerOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : "root";
}

/** The imports of `graph` that {@linkcode MAY_IMPORT} does not allow. */
function strayImports(
  graph: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  return [...graph].flatMap(([file, targets]) => {
    const may = MAY_IMPORT[layerOf(file)]?.split(" ");
    return targets.filter((target) =>
      layerOf(target) !== layerOf(file) &&
      may?.includes(layerOf(target)) === false
    ).map((target) => `${file} imports ${target}`);
  });
}

Deno.test("folders import in one direction: tests alone may import anything", () => {
  const graph = new Map([
    ["bench/a.ts", ["bench/row/b.ts", "cli/c.ts"]],
    ["cli/c.ts", ["session/d.ts"]],
    ["mod.ts", ["cli/c.ts"]],
  ]);
  assertEquals(strayImports(graph), [
    "bench/a.ts imports cli/c.ts",
    "mod.ts imports cli/c.ts",
  ]);
  assertEquals(strayImports(importsOf(ROOT, files)), []);
  const named = files.filter((file) =>
    !["root", "cli", "examples", "tools", "session", "docs"].includes(
      layerOf(file),
    ) && /(?:from|import)\s*\(?\s*"mnkbench/.test(textOf(file))
  );
  assertEquals(named, []);
});

/** The imports of `graph` by which what ops share depends on the kernels of one of them. */
function importsOfKernels(
  graph: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  return [...graph].flatMap(([file, targets]) =>
    file.startsWith("kernels/common/")
      ? targets.filter((target) =>
        /^kernels\/\w+\/(cuda|hip|metal|cpu|torch)\//.test(target)
      ).map((target) => `${file} imports ${target}`)
      : []
  );
}

Deno.test("kernels/common/ imports no kernels of an op: these import it", () => {
  const graph = new Map([
    ["kernels/common/a.ts", ["kernels/b/cuda/b.ts", "kernels/b/point.ts"]],
    ["kernels/b/cuda/b.ts", ["kernels/b/cuda/c.ts"]],
  ]);
  assertEquals(importsOfKernels(graph), [
    "kernels/common/a.ts imports kernels/b/cuda/b.ts",
  ]);
  assertEquals(importsOfKernels(importsOf(ROOT, files)), []);
});

/** What only some folders may do, and the files outside of them that may, too. */
const RESERVED: readonly {
  readonly what: RegExp;
  readonly folders: readonly string[];
  readonly also?: readonly string[];
}[] = [{
  // Foreign calls are behind the device contract.
  what: /\bDeno\.(dlopen|Unsafe\w*|Pointer\w+)|\bdlopen\b[^{}]*\} = Deno\b/,
  folders: ["backends"],
}, {
  what: /\bconsole\.\w|\bDeno\.(args|exit)\b|\b(args|exit)\b[^{}]*\} = Deno\b/,
  folders: ["cli", "examples", "tools"],
  // Processes of their own, and errors that name them.
  also: [
    ...["session/worker.ts", "session/suite_trial.ts"],
    "session/suite_file.ts",
  ],
}];

Deno.test("backends alone make foreign calls; commands and tools alone print and exit", () => {
  const wrong = [
    ..."Deno.dlopen(p); let p: Deno.PointerValue; const { args } = Deno;".split(
      "; ",
    ),
    ...["console.log(1)", "f(Deno.args)", "globalThis.Deno.exit(1)"],
  ].filter((text) => RESERVED.some(({ what }) => what.test(text)));
  assertEquals(wrong.length, 6);
  const found = RESERVED.flatMap(({ what, folders, also = [] }) =>
    files.filter((file) =>
      file.endsWith(".ts") && layerOf(file) in MAY_IMPORT &&
      !folders.includes(layerOf(file)) && !also.includes(file) &&
      what.test(textOf(file))
    ).map((file) => `${file}: ${what.exec(textOf(file))![0]}`)
  );
  assertEquals(found, []);
});

/** The exported values of `texts` that no other module names that imports theirs, and no example. */
function unusedIn(texts: ReadonlyMap<string, string>): readonly string[] {
  const named = new Map<string, Set<string>>();
  for (const [file, text] of texts) {
    const words = text.match(/\w+/g) ?? [];
    for (const [, a, b] of text.matchAll(IMPORT)) {
      const target = normalize(join(dirname(file), a ?? b!));
      // Of itself in the example of a docstring, which names what it shows.
      const users = target === file
        ? text.match(/^ \* import .*$/gm)!.join().match(/\w+/g)!
        : words;
      named.set(target, (named.get(target) ?? new Set()).union(new Set(users)));
    }
  }
  return [...texts].filter(([file]) => !TEST.test(file)).flatMap((
    [file, text],
  ) =>
    [...text.matchAll(/^export [a-z ]*(?:function\*?|const|class) (\w+)/gm)]
      .filter(([, name]) => !named.get(file)?.has(name!))
      .map(([, name]) => `${file}: ${name}`)
  );
}

Deno.test("every exported value is imported, or shown in an example", () => {
  const texts = new Map([
    ["a/b.ts", "export const used = 1;\nexport class Lone {}"],
    ["a/b_test.ts", 'import { used } from "./b.ts";'],
  ]);
  assertEquals(unusedIn(texts), ["a/b.ts: Lone"]);
  const all = sourceFiles(ROOT, true).filter((file) => file.endsWith(".ts"));
  const read = (file: string) => Deno.readTextFileSync(new URL(file, ROOT));
  assertEquals(unusedIn(new Map(all.map((file) => [file, read(file)]))), [
    // The bundle of the page calls it.
    "report/page/browser/main.ts: start",
  ]);
});

Deno.test(`no folder has more than ${MOST_FILES} source files`, () => {
  const folders = Map.groupBy(
    files,
    (file) => file.slice(0, Math.max(0, file.lastIndexOf("/"))),
  );
  assertEquals(
    [...folders].filter(([, own]) => own.length > MOST_FILES)
      .map(([folder, own]) => `${folder}: ${own.length}`),
    [],
  );
});

Deno.test("bench/ composes no command lines: cli does, from data", () => {
  // A command with an option, or this program's name before a word in backquotes.
  const command =
    /`[^`\n]*\bmnkbench [a-z]|\bdeno task [a-z]|\\`[a-z]+ --[a-z]/;
  const found = files.filter((file) => /^bench\/.*\.ts$/.test(file))
    .flatMap((file) =>
      Deno.readTextFileSync(new URL(file, ROOT))
        .replaceAll(/\/\*[^]*?\*\//g, "").split("\n")
        .filter((line) => command.test(line))
        .map((line) => `${file}: ${line.trim()}`)
    );
  assertEquals(found, []);
});
