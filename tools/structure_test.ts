import { assert, assertEquals } from "@std/assert";
import { circles, importsOf, sourceFiles } from "./structure.ts";

const ROOT = new URL("../", import.meta.url);
const MOST_FILES = 25;

const files = sourceFiles(ROOT);

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
