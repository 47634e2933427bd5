import { assert, assertEquals, assertRejects } from "@std/assert";
import { killTree, ProgramError, runProgram } from "./run_program.ts";
import { lives } from "../testdata/supervised.ts";

/** Starts a shell that starts another one, and returns their process ids. */
async function family(): Promise<{
  readonly pids: readonly number[];
  readonly ended: Promise<unknown>;
}> {
  const parent = new Deno.Command("sh", {
    args: ["-c", "sh -c 'echo $$; sleep 1000; :'; :"],
    stdout: "piped",
  }).spawn();
  const reader = parent.stdout.getReader();
  const { value } = await reader.read();
  const child = Number(new TextDecoder().decode(value));
  const ended = parent.status.then(() => reader.cancel());
  return { pids: [parent.pid, child], ended };
}

Deno.test({
  name: "runProgram() ends a program that closes its pipes and goes on",
  ignore: Deno.build.os === "windows",
  async fn() {
    const args = ["-c", "exec >&- 2>&-; sleep 600"];
    const run = () => runProgram("sh", { args, limitMs: 300 });
    const { late } = await assertRejects(run, ProgramError);
    assert(late);
  },
});

for (const os of ["linux", "darwin"]) {
  const program = os === "linux" ? "cat" : "ps";
  const has = Deno.build.os === "linux" &&
    new Deno.Command("sh", { args: ["-c", `command -v ${program}`] })
      .outputSync().success;
  Deno.test({
    name: `killTree() ends what a process started, as ${os} lists them`,
    ignore: !has,
    async fn() {
      const { pids, ended } = await family();
      assertEquals(pids.map(lives), [true, true]);
      killTree(pids[0]!, os);
      await ended;
      // A signal takes a moment.
      for (let turn = 0; turn < 1000 && lives(pids[1]!); turn++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assert(!pids.some(lives), `${pids}`);
    },
  });
}
