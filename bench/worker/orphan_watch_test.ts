import { assertEquals } from "@std/assert";
import { commandOf, denoRun } from "../testdata/jobs.ts";
import { ended, lives } from "../testdata/supervised.ts";

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
    if (/blocked \d+ \d+\n/.test(text)) break;
  }
  const [worker, daemon] = /blocked (\d+) (\d+)\n/.exec(text)!.slice(1)
    .map(Number) as [number, number];
  assertEquals([worker, daemon].map(lives), [true, true]);
  parent.kill("SIGKILL");
  await parent.stderr.cancel();
  await parent.status;
  assertEquals(await ended(worker), true);
  // Nobody tells what belongs to whom elsewhere.
  if (Deno.build.os === "linux") assertEquals(await ended(daemon), true);
  else Deno.kill(daemon);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("receiveJob() refuses to work without a job", async () => {
  const worker = start(commandOf("normal"), "null");
  const { success, stderr } = await worker.output();
  assertEquals(success, false);
  const said = new TextDecoder().decode(stderr);
  assertEquals(said.includes("Cannot work without a job"), true, said);
});
