import { match, ok, strictEqual } from "node:assert/strict";
import config from "../deno.json" with { type: "json" };

const WORKFLOW = Deno.readTextFileSync(
  new URL("../.github/workflows/bench.yml", import.meta.url),
);
const DOCS = ["../docs/ci.md", "../docs/published.md"].map((path) =>
  Deno.readTextFileSync(new URL(path, import.meta.url))
).join("\n");

Deno.test("bench.yml pins every action by commit, its version beside it", () => {
  const uses = [...WORKFLOW.matchAll(/uses: (.*)$/gm)].map(([, use]) => use!);
  ok(uses.length >= 4);
  for (const use of uses) {
    match(use, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
});

Deno.test("bench.yml runs nothing but tasks that there are", () => {
  const runs = [...WORKFLOW.matchAll(/run: (?:>-\n\s+)?(.*)$/gm)]
    .map(([, command]) => command!);
  strictEqual(runs.length, 5);
  const tasks: Readonly<Record<string, unknown>> = config.tasks;
  for (const command of runs) {
    const task = /^npx -y deno@2\.9\.6 task ([a-z]+)(?: |$)/.exec(command)?.[1];
    ok(task !== undefined && Object.hasOwn(tasks, task), command);
  }
});

Deno.test("docs of CI and published figures name tasks that there are", () => {
  const named = [...DOCS.matchAll(/npx -y deno@2\.9\.6 task ([a-z]+)/g)];
  ok(named.length >= 8);
  const tasks: Readonly<Record<string, unknown>> = config.tasks;
  for (const [, task] of named) ok(Object.hasOwn(tasks, task!), task);
});
