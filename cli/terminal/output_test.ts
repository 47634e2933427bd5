import { assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";

const linux = Deno.build.os === "linux";
const skip = linux ? "" : " (ignored: needs /dev/full)";

/** Talks slowly enough for its reader to be gone, and says how far it came. */
const SAYER = `import { Progress } from "${new URL(
  "progress.ts",
  import.meta.url,
)}";
import { say, tell } from "${new URL("output.ts", import.meta.url)}";
await new Promise((resolve) => setTimeout(resolve, 100));
tell("talk");
say("told");
{
  using progress = new Progress("test", 2);
  progress.print("a line");
  progress.step();
}
say("shown");`;

/** Runs `script`, whose $1 is a program that says, and whose $2 is Deno. */
async function shell(script: string) {
  const { code, stdout, stderr } = await new Deno.Command("/bin/sh", {
    args: ["-c", script, "sh", SAYER, Deno.execPath()],
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

const CSV = "results/nvidia-h200/grouped-nvfp4.csv";
// The code must be none that says what was found: in CI, 1 of a `diff` is a slower row.
for (const command of ["list", `diff ${CSV} ${CSV}`, `table ${CSV}`]) {
  Deno.test({
    name: `say() of ${command} tells in one line that the disk is full${skip}`,
    ignore: !linux,
    async fn() {
      const main = fileURLToPath(new URL("../main.ts", import.meta.url));
      const { code, stderr } = await shell(
        `"$2" run --quiet -A "${main}" ${command} > /dev/full`,
      );
      assertMatch(
        stderr,
        /^error: Cannot write to standard output: .*space.*\n$/,
      );
      assertEquals(code, 2);
    },
  });
}

for (
  const [what, script] of [
    ["full", '"$2" eval --ext=ts "$1" 2> /dev/full'],
    ["closed", '{ "$2" eval --ext=ts "$1" 2>&1 >&3 | true; } 3>&1'],
  ] as const
) {
  Deno.test({
    name: `tell() and Progress go on where standard error is ${what}${skip}`,
    ignore: !linux,
    async fn() {
      assertEquals((await shell(script)).stdout, "told\nshown\n");
    },
  });
}
