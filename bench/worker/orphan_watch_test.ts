import { assertEquals } from "@std/assert";
import { commandOf, denoRun } from "../testdata/jobs.ts";

/** Beyond what a busy machine takes, and less than the call blocks. */
const PATIENCE_MS = 60_000;

function start(
  [program, ...args]: readonly [string, ...string[]],
  stdin: "null" | "piped",
): Deno.ChildProcess {
  return new Deno.Command(program, {
    args,
    stdin,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Whether a process runs; one that only waits for its parent to look does not. */
function lives(pid: number): boolean {
  try {
    if (Deno.build.os === "linux") {
      return !/^\d+ \(.*\) [ZX]/.test(
        Deno.readTextFileSync(`/proc/${pid}/stat`),
      );
    }
    Deno.kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("receiveJob() ends a worker whose parent is killed while a foreign call blocks it", async () => {
  const folder = await Deno.makeTempDir();
  const parent = start(
    denoRun("parent.ts", `${folder}/runs`, `${folder}/results`, "", "block"),
    "null",
  );
  let text = "";
  for await (
    const piece of parent.stdout.pipeThrough(new TextDecoderStream())
  ) {
    text += piece;
    if (/blocked \d+\n/.test(text)) break;
  }
  const worker = Number(/blocked (\d+)\n/.exec(text)![1]);
  assertEquals(lives(worker), true);
  parent.kill("SIGKILL");
  await parent.stderr.cancel();
  await parent.status;
  const killed = performance.now();
  while (lives(worker) && performance.now() - killed < PATIENCE_MS) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assertEquals(lives(worker), false);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("receiveJob() refuses to work without a job", async () => {
  const worker = start(commandOf("normal"), "null");
  const { success, stderr } = await worker.output();
  assertEquals(success, false);
  const said = new TextDecoder().decode(stderr);
  assertEquals(said.includes("Cannot work without a job"), true, said);
});
