import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { geomean } from "../bench/measure/stats.ts";
import { readCsv } from "../bench/row/read_csv.ts";
import { ofOneTiming } from "../report/model/timing.ts";
import { dirname, join, normalize } from "node:path";

const README = Deno.readTextFileSync(new URL("../README.md", import.meta.url));
const CSV = "../results/nvidia-h200/epilogue-bf16.csv";
const ALL = readCsv(Deno.readTextFileSync(new URL(CSV, import.meta.url)), CSV);
const ROWS = ofOneTiming(ALL, {}).rows.filter(({ status }) => status === "ok");

/** Medians in microseconds by kernel, of every shape by its label. */
const SHAPES = new Map(
  [...Map.groupBy(ROWS, ({ m, n, k }) => `${m}×${n}×${k}`)].map((
    [label, rows],
  ) => [
    label,
    new Map(rows.map((row) => [row.kernel, Number(row.median_us)])),
  ]),
);

/** The cells of the first table of the README: its head, and its lines. */
function firstTable(): readonly (readonly string[])[] {
  const from = README.indexOf("| M=N x K");
  const lines = README.slice(from).split("\n\n")[0]!.split("\n");
  return lines.map((line) =>
    line.split("|").slice(1, -1).map((cell) => cell.trim())
  );
}

/** The fastest time of those that are libraries' and peers', or of ours. */
function fastest(times: ReadonlyMap<string, number>, others: boolean): number {
  const own = [...times].filter(([kernel]) =>
    /^(cublas|torch|triton)/.test(kernel) === others
  );
  return Math.min(...own.map(([, us]) => us));
}

/** How many times as fast as the best other the best of ours is. */
function lead(times: ReadonlyMap<string, number>): number {
  return fastest(times, true) / fastest(times, false);
}

Deno.test("the README's first table has the recorded times, the fastest bold, and what follows", () => {
  const [[, ...heads] = [], , ...lines] = firstTable();
  const kernels = heads.slice(0, -1);
  assertStrictEquals(heads.at(-1), "ours vs best peer");
  for (const [label, ...cells] of lines.slice(0, -2)) {
    const times = SHAPES.get(label!)!;
    const bold = cells.filter((cell) => cell.startsWith("**"));
    // Who wins must have a column.
    assertStrictEquals(
      bold[0],
      `**${fastest(times, false).toFixed(2)}**`,
      label,
    );
    const shown = cells.map((cell) => cell.replaceAll("*", ""));
    for (const [i, kernel] of kernels.entries()) {
      assertStrictEquals(
        shown[i],
        times.get(kernel)!.toFixed(2),
        `${label} ${kernel}`,
      );
    }
    assertStrictEquals(shown.at(-1), `${lead(times).toFixed(2)}x`, label);
  }
  const all = [...SHAPES.values()];
  assertStrictEquals(all.length, 28);
  const [against, best] = lines.slice(-2).map(([, ...cells]) => cells);
  for (const [i, kernel] of kernels.entries()) {
    const factors = all.map((at) => at.get("cublas")! / at.get(kernel)!);
    assertStrictEquals(against![i], `${geomean(factors)!.toFixed(2)}x`, kernel);
  }
  assertStrictEquals(against!.at(-1), "");
  assertStrictEquals(best!.at(-1), `${geomean(all.map(lead))!.toFixed(2)}x`);
  assert(best!.slice(0, -1).every((cell) => cell === ""));
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
