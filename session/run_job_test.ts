import { assertEquals } from "@std/assert";
import config from "../deno.json" with { type: "json" };
import { COMMANDS, RENAMED } from "../cli/commands.ts";
import { PERMISSIONS } from "./run_job.ts";

const TASKS: Readonly<Record<string, { readonly command: string }>> =
  config.tasks;

Deno.test("deno.json has a task for every command, and for those of before", () => {
  assertEquals(
    Object.keys(TASKS).toSorted(),
    [
      ...Object.keys(COMMANDS),
      ...Object.keys(RENAMED),
      ...["bundle", "completions", "recorded", "test", "test:all"],
    ].toSorted(),
  );
});

for (const [name, { command }] of Object.entries(TASKS)) {
  Deno.test(`deno.json's task ${name} names its permissions, and no others`, () => {
    const [deno] = command.split(/\b(?:cli|tools)\//);
    const flags = deno!.split(" ").filter((word) => word.startsWith("-"));
    assertEquals(
      flags.filter((flag) => !PERMISSIONS.includes(flag)),
      [],
    );
    if (["bench", "tune", "check", "compare", "build"].includes(name)) {
      assertEquals(
        command,
        `deno run ${PERMISSIONS.join(" ")} cli/main.ts ${name}`,
      );
    }
  });
}
