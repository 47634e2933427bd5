import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { DEFAULTS } from "../bench/model/settings.ts";
import { readCsv } from "../bench/row/read_csv.ts";
import config from "../deno.json" with { type: "json" };

const WORKFLOW = Deno.readTextFileSync(
  new URL("../.github/workflows/bench.yml", import.meta.url),
);
const DOCS = ["../docs/guide/ci.md", "../docs/guide/published.md"].map((path) =>
  Deno.readTextFileSync(new URL(path, import.meta.url))
).join("\n");

Deno.test("bench.yml pins every action by commit, its version beside it", () => {
  const uses = [...WORKFLOW.matchAll(/uses: (.*)$/gm)].map(([, use]) => use!);
  assert(uses.length >= 4);
  for (const use of uses) {
    assertMatch(use, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
});

Deno.test("bench.yml runs nothing but tasks that there are", () => {
  const runs = [...WORKFLOW.matchAll(/run: (?:>-\n\s+)?(.*)$/gm)]
    .map(([, command]) => command!);
  const tasks: Readonly<Record<string, unknown>> = config.tasks;
  const named = runs.filter((command) => command !== ".ci/install")
    .map((command) =>
      /^npx -y deno@2\.9\.6 task ([a-z:]+)(?: |$)/.exec(command)?.[1]
    );
  assertEquals(
    named.filter((task) => task === undefined || !Object.hasOwn(tasks, task)),
    [],
  );
  // Both tiers of tests, each after what it needs is installed as `.ci/run` installs it.
  for (const task of ["test", "test:all"]) {
    assertStrictEquals(
      runs[runs.findIndex((r) => r.includes(`task ${task}`)) - 1],
      ".ci/install",
    );
  }
});

Deno.test("docs of CI and published figures name tasks that there are", () => {
  const named = [...DOCS.matchAll(/npx -y deno@2\.9\.6 task ([a-z]+)/g)];
  assert(named.length >= 8);
  const tasks: Readonly<Record<string, unknown>> = config.tasks;
  for (const [, task] of named) assert(Object.hasOwn(tasks, task!), task);
});

/** The suites that `text` measures with either timer. */
function timersIn(text: string, pattern: RegExp): Map<string, string> {
  return new Map(
    [...text.matchAll(pattern)].flatMap(([, suites, timer]) =>
      suites!.split(",").map((suite) =>
        [suite, /graph/i.test(timer!) ? "graph" : "do_bench"] as const
      )
    ),
  );
}

Deno.test("bench.yml and docs of CI measure each recorded suite with its recorded timer", () => {
  const results = new URL("../results/nvidia-h200/", import.meta.url);
  const recorded = new Map<string, string>();
  for (const { name } of Deno.readDirSync(results)) {
    if (!name.endsWith(".csv")) continue;
    const rows = readCsv(Deno.readTextFileSync(new URL(name, results)), name);
    for (const { suite, timer, cache, flush, fill, seed } of rows) {
      recorded.set(suite, timer);
      // The commands leave all else at its default.
      const { cache: c, flush: f, fill: i, seed: s } = DEFAULTS;
      assertEquals([cache, flush, fill, seed], [c, f, i, `${s}`]);
    }
  }
  const typed = /task bench --suite ([\w,-]+)((?: --timer graph)?)/g;
  const byHand = /description: Suites to time.*\n +default: ([\w,-]+)()/g;
  const [graph, stream] = [...WORKFLOW.matchAll(byHand)].map(([, one]) => one!);
  const pushed = new Map([
    ...timersIn(WORKFLOW, /^ +GRAPH: .*&& '([\w,-]+)'(.*)$/gm).keys(),
  ].map((suite) => [suite, "graph"]));
  for (
    const suite of timersIn(WORKFLOW, /^ +STREAM: .*&& '([\w,-]+)'(.*)$/gm)
      .keys()
  ) pushed.set(suite, "do_bench");
  const hand = new Map([
    ...graph!.split(",").map((suite) => [suite, "graph"] as const),
    ...stream!.split(",").map((suite) => [suite, "do_bench"] as const),
  ]);
  for (const way of [timersIn(DOCS, typed), pushed, hand]) {
    assertEquals(
      [...way].toSorted().map(String),
      [...recorded].toSorted().map(String),
    );
  }
});
