import { assertEquals } from "@std/assert";
import { systemText } from "./system_files.ts";

const MODULE = new URL("./system_files.ts", import.meta.url).href;
const linux = { ignore: Deno.build.os !== "linux" };

/** Returns what `systemText` has of `paths` in a process with `flags` and an empty PATH. */
async function withoutPath(
  flags: readonly string[],
  paths: readonly string[],
): Promise<unknown> {
  const code = `import { systemText } from "${MODULE}";
console.log(JSON.stringify(systemText(${JSON.stringify(paths)})));`;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-prompt", ...flags],
      `data:application/typescript,${encodeURIComponent(code)}`,
    ],
    env: { PATH: "/nowhere" },
  }).output();
  const [text, said] = [stdout, stderr].map((b) => new TextDecoder().decode(b));
  return text === "" ? said : JSON.parse(text!);
}

const ONLINE = "/sys/devices/system/cpu/online";

Deno.test("systemText() has the files that there are", linux, () => {
  const text = Deno.readTextFileSync(ONLINE);
  assertEquals(systemText([ONLINE, "/sys/no/such", ONLINE]), text + text);
});

Deno.test(
  "systemText() needs no program with every permission, and has nothing without both",
  linux,
  async () => {
    const text = Deno.readTextFileSync(ONLINE);
    assertEquals(await withoutPath(["--allow-all"], [ONLINE]), text);
    const some = [
      "--allow-read",
      "--allow-env",
      "--allow-run",
      "--allow-import",
    ];
    assertEquals(await withoutPath(some, [ONLINE]), "");
  },
);
