import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { DEFAULTS } from "../bench/model/settings.ts";
import { readCsv } from "../bench/row/read_csv.ts";
import { suiteNames } from "../suites/mod.ts";
import { recordedTimers, suitesByTimer } from "./recorded_suites.ts";
import config from "../deno.json" with { type: "json" };

const WORKFLOW = Deno.readTextFileSync(
  new URL("../.github/workflows/bench.yml", import.meta.url),
);
const RESULTS = new URL("../results/nvidia-h200/", import.meta.url);
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

Deno.test("recorded rows have the defaults of the commands that CI and its docs run", () => {
  for (const { name } of Deno.readDirSync(RESULTS)) {
    if (!name.endsWith(".csv")) continue;
    const text = Deno.readTextFileSync(new URL(name, RESULTS));
    for (const { cache, flush, fill, seed } of readCsv(text, name)) {
      const { cache: c, flush: f, fill: i, seed: s } = DEFAULTS;
      assertEquals([cache, flush, fill, seed], [c, f, i, `${s}`]);
    }
  }
});

Deno.test("bench.yml measures what recordedTimers() and suitesByTimer() find", () => {
  assertMatch(WORKFLOW, /task recorded "results\/\$BASELINE" "\$SUITES"/);
  assertMatch(WORKFLOW, /--suite "\$GRAPH" --timer graph\n/);
  assertMatch(WORKFLOW, /--suite "\$STREAM"\n/);
  const timers = recordedTimers(RESULTS);
  const { graph, stream } = suitesByTimer(timers);
  assertEquals(
    [...graph, ...stream].toSorted(),
    [...timers.keys()].toSorted(),
  );
  assert(graph.includes("epilogue-bf16"));
  const some = new Map([["mlx-qmm", "do_bench"], ["matmul-bf16", "graph"]]);
  assertEquals(suitesByTimer(some, ["mlx-qmm", "matmul-bf16"]), {
    graph: ["matmul-bf16"],
    stream: ["mlx-qmm"],
  });
  // Without recorded rows all are measured.
  assertStrictEquals(suitesByTimer(new Map()).stream.length, suiteNames.length);
  assertEquals([...recordedTimers(new URL("nowhere/", RESULTS))], []);
});

Deno.test("docs of CI measure each recorded suite with its recorded timer", () => {
  const typed = [
    ...DOCS.matchAll(/task bench --suite ([\w,-]+)((?: --timer graph)?)/g),
  ].flatMap(([, names, timer]) =>
    names!.split(",").map((name) => [name, timer ? "graph" : "do_bench"])
  );
  assertEquals(
    new Set(typed.map(String)),
    new Set([...recordedTimers(RESULTS)].map(String)),
  );
});
